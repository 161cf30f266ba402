// The run that is killed and goes on: everything that could differ from one time to the next is fixed.
const answer = (message) => ({
  id: 'x',
  model: 'm',
  choices: [{ index: 0, message, finish_reason: 'stop' }],
  usage: { prompt_tokens: 7, completion_tokens: 3 },
})

export const runOptions = {
  id: 'killed',
  homeground: '0.1.0',
  arms: [
    { name: 'a', model: 'one', url: 'http://arm.test/v1' },
    { name: 'b', model: 'two', url: 'http://arm.test/v1' },
  ],
  concurrency: 2,
  deps: {
    now: () => 0,
    monotonicMs: () => 0,
    fetch: async (_url, { body }) => {
      const { messages } = JSON.parse(body)
      if (messages.at(-1).role === 'tool') return Response.json(answer({ role: 'assistant', content: `${messages.at(-1).content}.` }))
      const call = { name: 'look', arguments: JSON.stringify({ at: /thing\d+/.exec(messages[0].content)[0] }) }
      return Response.json(answer({ role: 'assistant', content: null, tool_calls: [{ id: 'k', type: 'function', function: call }] }))
    },
  },
}
