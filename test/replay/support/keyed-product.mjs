// A product whose client wants a key when it is built, as vendors' clients do.
import OpenAI from 'openai'

export const client = new OpenAI()
export { agent } from './threaded-product.mjs'
