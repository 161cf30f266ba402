// Sees how a call of the product's ends, and gives back what it gave: the same object, as lazy as it was, the same error with the same stack.
import type { Outcome } from './outcome.ts'
import { follower, isSettling } from './settling-promise.ts'
import { watchUse } from './watch-use.ts'

/** `fresh`: the promise that `call` may give is nobody else's, as with an async function. */
export function observe<Result>(call: () => Result, outcome: Outcome, fresh: boolean): Result {
  let result: Result
  try {
    result = outcome.enter(call)
  } catch (error) {
    outcome.failed(error)
    throw error
  }
  if (isSettling(result)) return follower(fresh, (value) => watchUse(value, outcome), outcome.failed)(result)
  watchUse(result, outcome)
  return result
}

/** `made`, with the name, the number of arguments, and whatever else the product has put on the function that it stands for. */
export function likeGiven<Made extends object>(made: Made, given: object): Made {
  return Object.defineProperties(made, Object.getOwnPropertyDescriptors(given))
}
