// The same in CommonJS: `node --import @homeground/sdk/register main.cjs`.
const OpenAI = require('openai')

const openai = new OpenAI()
openai.chat.completions
  .create({ model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Where is order 7?' }] })
  .then((answer) => console.log(answer.choices[0].message.content))
