// tune/train: the trainer's Python environment, a training run followed to its end, and the lineage of what it made.
export { checkSettings } from './check-settings.ts'
export { parseEvent, type TrainerEvent, type TrainingEnd } from './events.ts'
export { hashModel, type ModelFile, readModelFile, writeModelFile } from './lineage.ts'
export { makeModel } from './make-model.ts'
export * from './python-environment.ts'
export { type ServedModel, type ServeOptions, serveModel } from './serve-model.ts'
export { type TrainOptions, type TrainSettings, train } from './train.ts'
export { startTrainerProcess, type TrainerProcess } from './trainer-process.ts'
