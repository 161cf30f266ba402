// The two models of a gate, answering: folders are served on this machine (one server where one is an adapter of the other), names are taken at their URL.
import { createHash } from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'
import { HomegroundError } from '@homeground/sdk/trace'
import type { GateSide } from '../tune/gate/index.ts'
import { hashModel, readModelFile, requirePython, type ServedModel, serveModel } from '../tune/train/index.ts'
import { inert } from './terminal.ts'

export interface GateModels {
  folder?: string
  baseline: string
  candidate: string
  url?: string
  apiKeyEnv?: string
  maxTokens?: number
}

export interface ServedSides extends AsyncDisposable {
  baseline: GateSide
  candidate: GateSide
}

/** Dispose of it to end the servers. @throws HomegroundError invalid-argument, python-missing, what `serveModel` throws */
export async function serveGateModels(options: GateModels): Promise<ServedSides> {
  const servers: ServedModel[] = []
  const dispose = async (): Promise<void> => {
    await Promise.all(servers.map((server) => server.stop()))
  }
  try {
    const candidate = await sideOf(options.candidate, options, servers)
    const shared = baseOf(options.candidate) === path.resolve(options.baseline) ? servers[0] : undefined
    const baseline =
      shared === undefined
        ? await sideOf(options.baseline, options, servers)
        : servedSide(options.baseline, { url: shared.url, name: 'base' }, options)
    return { baseline, candidate, [Symbol.asyncDispose]: dispose }
  } catch (error) {
    await dispose()
    throw error
  }
}

async function sideOf(model: string, options: GateModels, servers: ServedModel[]): Promise<GateSide> {
  if (!fs.existsSync(model)) return remoteSide(model, options)
  const python = requirePython(options.folder === undefined ? {} : { folder: options.folder })
  const server = await serveAtLastingPort({ python, model })
  servers.push(server)
  return servedSide(model, server, options)
}

function servedSide(model: string, server: { url: string; name: string }, options: GateModels): GateSide {
  const parameters = { max_tokens: options.maxTokens ?? 512 }
  return { model, sha256: hashFolder(model), arm: { model: server.name, url: server.url, parameters } }
}

/** The same port for the same model, where it is free: a gate that was broken off goes on only with the arms that it began with, URL included. */
async function serveAtLastingPort(options: { python: string; model: string }): Promise<ServedModel> {
  const port = 20_000 + (Number.parseInt(hashFolder(options.model).slice(0, 8), 16) % 20_000)
  try {
    return await serveModel({ ...options, port })
  } catch (error) {
    if (!HomegroundError.is(error) || error.code !== 'port-in-use') throw error
    return await serveModel(options)
  }
}

function remoteSide(model: string, { url, apiKeyEnv, maxTokens }: GateModels): GateSide {
  if (url === undefined) {
    throw new HomegroundError('invalid-argument', `${inert(model)} is no folder, and there is no --url at which it could be a name`, {
      hint: 'check the path, or give --url and, where it needs a key, --api-key-env',
    })
  }
  return {
    model,
    sha256: createHash('sha256').update(`${url}\n${model}`).digest('hex'),
    arm: {
      model,
      url,
      ...(apiKeyEnv === undefined ? {} : { apiKeyEnv }),
      ...(maxTokens === undefined ? {} : { parameters: { max_tokens: maxTokens } }),
    },
  }
}

/** The folder that an adapter of ours was trained on. */
function baseOf(model: string): string | undefined {
  if (!fs.existsSync(path.join(model, 'model.json'))) return undefined
  const file = readModelFile(model)
  return file.kind === 'adapter' ? path.resolve(file.base.path) : undefined
}

/** What was trained counts, not the log beside it. */
function hashFolder(model: string): string {
  if (!fs.existsSync(path.join(model, 'model.json'))) return hashModel(model)
  const file = readModelFile(model)
  return createHash('sha256')
    .update(`${file.base.sha256}\n${hashModel(path.join(model, file.path))}`)
    .digest('hex')
}
