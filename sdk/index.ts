// @homeground/sdk: records the model calls and tools of an agent product. Imports neither zod nor an OpenTelemetry SDK.
export type * from './run/seam.ts'
