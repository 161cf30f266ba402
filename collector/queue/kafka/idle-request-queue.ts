// kafkajs 2.2 asks each connection a thousand times a second whether a request waits, also when none does, which costs an idle process some percent of a core
// (its scheduleCheckPendingRequests passes -1 to setTimeout, which means 1 ms; tulios/kafkajs#1751). Here the check is planned only when something waits:
// a request that is pushed, answered or timed out plans it anew, so none is forgotten.
import { createRequire } from 'node:module'
import { z } from 'zod'

interface RequestQueue {
  pending: readonly unknown[]
  throttledUntil: number
}

/** Mends kafkajs for the whole process; more than once does nothing more. @throws Error where kafkajs is not the version that is mended here */
export function mendRequestQueue(): void {
  if (isMended) return
  const RequestQueue = requestQueueSchema.parse(createRequire(import.meta.url)('kafkajs/src/network/requestQueue'))
  const schedule = RequestQueue.prototype.scheduleCheckPendingRequests
  RequestQueue.prototype.scheduleCheckPendingRequests = function (this: RequestQueue) {
    if (this.pending.length > 0 || this.throttledUntil > Date.now()) schedule.call(this)
  }
  isMended = true
}

let isMended = false

type Schedule = (this: RequestQueue) => void
const requestQueueSchema = z.custom<{ prototype: { scheduleCheckPendingRequests: Schedule } }>(
  (value) => typeof value === 'function' && typeof value.prototype.scheduleCheckPendingRequests === 'function',
  'kafkajs has no RequestQueue.scheduleCheckPendingRequests any more; look whether collector/queue/kafka/idle-request-queue.ts is still needed',
)
