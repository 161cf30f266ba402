// Keeps what a long run lets lie in memory small. For commands that stream; it changes nothing of what is held.
import v8 from 'node:v8'

/**
 * Has V8 clear the old generation whenever it has grown by half. Left alone V8 waits until it has grown fourfold where clearing was cheap so far: of 100,000 rollouts
 * 70 MB of garbage lay about beside 20 MB in use. Clearing so small a heap takes some 10 ms, every few seconds.
 */
export function keepHeapLean(): void {
  v8.setFlagsFromString('--heap-growing-percent=50')
}
