// What workers and the one who hands work out need of a queue: values on two topics, at least once, acknowledged by the one who has handled them.

export interface WorkChannel {
  partitions(topic: string): Promise<number>
  /** Members of a group. */
  members(group: string): Promise<number>
  /** Resolves when it is durable. */
  send(topic: string, message: { key: string; value: Buffer; partition?: number }): Promise<void>
  /**
   * `handle` is called with one value of a partition after the other, partitions side by side. Resolved, the value is acknowledged, unless the signal came first: then it
   * comes again, to another member of the group perhaps.
   */
  receive(receiving: {
    topic: string
    group: string
    /** Where a group begins that has acknowledged nothing yet. */
    from: 'beginning' | 'end'
    handle(value: Buffer, signal: AbortSignal): Promise<void>
  }): Promise<{ close(): Promise<void> }>
  /** Forgets what a group has acknowledged. */
  forget(group: string): Promise<void>
}

export interface WorkTopics {
  jobs: string
  results: string
  /** Of all workers. */
  group: string
}

/** Named after the topic of the rows. */
export function workTopics(topic: string): WorkTopics {
  return { jobs: `${topic}.jobs`, results: `${topic}.results`, group: `${topic}.workers` }
}

/** So many rollouts are under way at once, over all workers, at most: the partitions of the jobs' topic, where it has to be made. */
export const jobPartitions = 64
