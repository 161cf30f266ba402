// Code that knows nothing of Homeground: `node --import @homeground/sdk/register main.mjs` records its model calls.
import OpenAI from 'openai'

const openai = new OpenAI()
const answer = await openai.chat.completions.create({ model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Where is order 7?' }] })
console.log(answer.choices[0].message.content)
