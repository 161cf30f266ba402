// replay/rubric: scores an episode by weighted criteria.
export { episodeCostUsd, type Prices, priceOf, readPrices, usageCostUsd } from './cost.ts'
export { effectOf } from './effect.ts'
export { answerText, brokenOff, finalAnswer, madeCalls, saidToUser } from './episode-reading.ts'
export { type GradedRecording, type GradeOptions, gradeRecordings } from './grade-recordings.ts'
export { graderTypes, parseRubric } from './parse-rubric.ts'
export { type EpisodeScore, gradeCriterion, type ScoreInput, scoreEpisode, weightedScore } from './score-episode.ts'
export type * from './types.ts'
