// An episode's model calls as verifiers keeps them: each message once, as a node behind the one that it followed, so that a branch of the history is a path.
import type { Episode, Json, Message, ModelCall } from '@homeground/sdk/trace'
import { messageText } from '../dataset/threads.ts'
import { type Row, rowMessages } from '../formats/messages.ts'

export interface MessageGraph {
  nodes: Row[]
  calls: Row[]
}

interface Node {
  row: Row
  /** Token ids of the path up to and with this node. */
  ids: readonly number[]
}

/** Calls without an answer leave no node. Where a call carries token ids, its node has what they add to the path, sampled ones marked. */
export function messageGraph(episode: Episode): MessageGraph {
  const nodes: Node[] = []
  const places = new Map<string, number>()
  const calls: Row[] = []
  const place = (key: string, make: () => Node): number => {
    const known = places.get(key)
    if (known !== undefined) return known
    places.set(key, nodes.length)
    return nodes.push(make()) - 1
  }
  for (const call of episode.steps) {
    if (call.kind !== 'model') continue
    const output = call.response?.outputs[call.chosen ?? 0]
    if (output === undefined) continue
    const timestamp = Date.parse(call.startedAt) / 1000
    let parent: number | undefined
    for (const message of call.request.messages) {
      const text = messageText(message)
      for (const [part, row] of nodeMessages(message).entries()) {
        const before = parent
        parent = place(`${before ?? ''} ${part} ${text}`, () => ({
          row: { ...(before === undefined ? { tools: call.request.tools.map(toolRow) } : { parent: before }), message: row, timestamp },
          ids: before === undefined ? [] : (nodes[before]?.ids ?? []),
        }))
      }
    }
    const before = parent
    const node = place(`${before ?? ''} 0 ${messageText(output)}`, () =>
      sampledNode(call, output, before, before === undefined ? [] : (nodes[before]?.ids ?? [])),
    )
    calls.push(callRow(call, node))
  }
  return { nodes: nodes.map(({ row }) => row), calls }
}

/** Ids are given only where the prompt goes on with exactly the ids of the path. */
function sampledNode(call: ModelCall, output: Message, parent: number | undefined, held: readonly number[]): Node {
  const timestamp = (Date.parse(call.startedAt) + call.durationMs) / 1000
  const row: Row = { ...(parent === undefined ? {} : { parent }), message: nodeMessages(output)[0] ?? null, sampled: true, timestamp }
  const { tokens } = call
  if (tokens === undefined || !held.every((id, at) => tokens.promptIds[at] === id)) return { row, ids: held }
  const between = tokens.promptIds.slice(held.length)
  const own = [...between, ...tokens.completionIds]
  const sampled = {
    token_ids: own,
    mask: [...between.map(() => false), ...tokens.completionIds.map(() => true)],
    ...(tokens.logprobs === undefined ? {} : { logprobs: tokens.logprobs }),
  }
  return { row: { ...row, ...sampled }, ids: [...held, ...own] }
}

/** Of one message; several where it holds several tool results. */
function nodeMessages(message: Message): Row[] {
  const rows = rowMessages([message], { dialect: 'openai' })
  const reasoning = message.parts.flatMap((part) => (part.type === 'reasoning' && part.content !== '' ? [part.content] : []))
  return rows.map((row): Row => {
    if (row['role'] === 'assistant') {
      return {
        role: 'assistant',
        content: typeof row['content'] === 'string' ? row['content'] : null,
        ...(reasoning.length === 0 ? {} : { reasoning_content: reasoning.join('\n\n') }),
        ...(Array.isArray(row['tool_calls']) ? { tool_calls: callsOf(message) } : {}),
      }
    }
    if (row['role'] === 'tool')
      return { role: 'tool', content: contentOf(row['content'] ?? ''), tool_call_id: row['tool_call_id'] ?? 'unknown' }
    return { role: row['role'] === 'user' ? 'user' : 'system', content: contentOf(row['content'] ?? '') }
  })
}

function callsOf(message: Message): Row[] {
  return message.parts.flatMap((part) => {
    if (part.type !== 'tool_call') return []
    const written = typeof part.arguments === 'string' && part.invalid === true ? part.arguments : JSON.stringify(part.arguments)
    return [{ id: part.id ?? 'unknown', name: part.name, arguments: part.raw ?? written }]
  })
}

/** Verifiers knows text and images; other parts are kept as their JSON. */
function contentOf(content: Json): Json {
  if (!Array.isArray(content)) return content
  return content.map((part): Json => {
    const kind = typeof part === 'object' && part !== null && !Array.isArray(part) ? part['type'] : undefined
    return kind === 'text' || kind === 'image_url' ? part : { type: 'text', text: JSON.stringify(part) }
  })
}

function toolRow(tool: ModelCall['request']['tools'][number]): Row {
  return {
    name: tool.name,
    ...(tool.description === undefined ? {} : { description: tool.description }),
    ...(tool.parameters === undefined ? {} : { parameters: tool.parameters }),
  }
}

const finishReasons: Readonly<Record<string, string>> = { stop: 'stop', length: 'length', tool_call: 'tool_calls' }

/** `prompt_tokens` are those that no cache served. */
function callRow(call: ModelCall, node: number): Row {
  const { inputTokens, outputTokens, cacheReadTokens, reasoningTokens } = call.response?.usage ?? {}
  const start = Date.parse(call.startedAt) / 1000
  const reason = finishReasons[call.response?.finishReasons[call.chosen ?? 0] ?? '']
  return {
    node,
    model: call.response?.model ?? call.model,
    ...(reason === undefined ? {} : { finish_reason: reason }),
    ...(inputTokens === undefined || outputTokens === undefined
      ? {}
      : {
          usage: {
            prompt_tokens: inputTokens - (cacheReadTokens ?? 0),
            completion_tokens: outputTokens,
            ...(cacheReadTokens === undefined ? {} : { cached_input_tokens: cacheReadTokens }),
            ...(reasoningTokens === undefined ? {} : { reasoning_tokens: reasoningTokens }),
          },
        }),
    time: { start, end: start + call.durationMs / 1000 },
  }
}
