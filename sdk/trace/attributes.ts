// Every attribute name that Homeground writes or reads. GenAI names are unstable upstream: copied from semantic conventions v1.41. No attribute string stands anywhere else.

/** OpenTelemetry GenAI semantic conventions, v1.41, and the general names used beside them. */
export const genAi = {
  operationName: 'gen_ai.operation.name',
  providerName: 'gen_ai.provider.name',
  requestModel: 'gen_ai.request.model',
  requestTemperature: 'gen_ai.request.temperature',
  requestTopP: 'gen_ai.request.top_p',
  requestTopK: 'gen_ai.request.top_k',
  requestMaxTokens: 'gen_ai.request.max_tokens',
  requestFrequencyPenalty: 'gen_ai.request.frequency_penalty',
  requestPresencePenalty: 'gen_ai.request.presence_penalty',
  requestStopSequences: 'gen_ai.request.stop_sequences',
  requestSeed: 'gen_ai.request.seed',
  requestChoiceCount: 'gen_ai.request.choice.count',
  responseId: 'gen_ai.response.id',
  responseModel: 'gen_ai.response.model',
  responseFinishReasons: 'gen_ai.response.finish_reasons',
  usageInputTokens: 'gen_ai.usage.input_tokens',
  usageOutputTokens: 'gen_ai.usage.output_tokens',
  usageCacheReadInputTokens: 'gen_ai.usage.cache_read.input_tokens',
  usageCacheCreationInputTokens: 'gen_ai.usage.cache_creation.input_tokens',
  usageReasoningOutputTokens: 'gen_ai.usage.reasoning.output_tokens',
  conversationId: 'gen_ai.conversation.id',
  agentName: 'gen_ai.agent.name',
  agentVersion: 'gen_ai.agent.version',
  toolName: 'gen_ai.tool.name',
  toolType: 'gen_ai.tool.type',
  toolCallId: 'gen_ai.tool.call.id',
  toolCallArguments: 'gen_ai.tool.call.arguments',
  toolCallResult: 'gen_ai.tool.call.result',
  toolDefinitions: 'gen_ai.tool.definitions',
  systemInstructions: 'gen_ai.system_instructions',
  inputMessages: 'gen_ai.input.messages',
  outputMessages: 'gen_ai.output.messages',
  /** Before v1.28: the conversation as one JSON text. */
  legacyPrompt: 'gen_ai.prompt',
  legacyCompletion: 'gen_ai.completion',
  /** Seconds. */
  timeToFirstChunk: 'gen_ai.response.time_to_first_chunk',
  errorType: 'error.type',
  sessionId: 'session.id',
  userId: 'user.id',
  serviceName: 'service.name',
  serviceVersion: 'service.version',
  serverAddress: 'server.address',
  serverPort: 'server.port',
  httpStatusCode: 'http.response.status_code',
} as const

/** Names of before and after v1.41 with the same meaning; where the name above is there too, it counts. */
export const genAiAliases: Readonly<Record<string, readonly string[]>> = {
  [genAi.providerName]: ['gen_ai.system'],
  [genAi.usageInputTokens]: ['gen_ai.usage.prompt_tokens'],
  [genAi.usageOutputTokens]: ['gen_ai.usage.completion_tokens'],
  [genAi.usageCacheReadInputTokens]: [
    'gen_ai.usage.cache_read_input_tokens',
    'gen_ai.usage.input_tokens.cached',
    'gen_ai.usage.details.cache_read_tokens',
  ],
  [genAi.usageCacheCreationInputTokens]: [
    'gen_ai.usage.cache_write.input_tokens',
    'gen_ai.usage.cache_creation_input_tokens',
    'gen_ai.usage.input_tokens.cache_write',
    'gen_ai.usage.details.cache_write_tokens',
  ],
  [genAi.usageReasoningOutputTokens]: [
    'gen_ai.usage.reasoning_tokens',
    'gen_ai.usage.output_tokens.reasoning',
    'gen_ai.usage.details.reasoning_tokens',
  ],
  [genAi.agentName]: ['gen_ai.workflow.name'],
  // The AI SDK puts the conventions' metrics on its spans.
  [genAi.timeToFirstChunk]: ['gen_ai.client.operation.time_to_first_chunk'],
  [genAi.userId]: ['enduser.id'],
}

/** Events that hold messages where the span does not, on the span or as log records: of v1.37 and later, of v1.28 to v1.36, and of before. */
export const messageEvent = {
  details: 'gen_ai.client.inference.operation.details',
  system: 'gen_ai.system.message',
  user: 'gen_ai.user.message',
  assistant: 'gen_ai.assistant.message',
  tool: 'gen_ai.tool.message',
  choice: 'gen_ai.choice',
  prompts: 'gen_ai.content.prompt',
  completions: 'gen_ai.content.completion',
  /** Not an event: the attribute in which Azure's clients put an event's body. */
  content: 'gen_ai.event.content',
} as const

/** On exception events. */
export const exceptionEvent = { type: 'exception.type', message: 'exception.message' } as const

/** The event that an evaluator writes, as a log record or on the span. */
export const evaluation = {
  eventName: 'gen_ai.evaluation.result',
  name: 'gen_ai.evaluation.name',
  scoreValue: 'gen_ai.evaluation.score.value',
  scoreLabel: 'gen_ai.evaluation.score.label',
  explanation: 'gen_ai.evaluation.explanation',
  /** Where log records named their event before they had a field for it. */
  legacyEventName: 'event.name',
} as const

/** Values of `gen_ai.operation.name`. */
export const operation = {
  chat: 'chat',
  textCompletion: 'text_completion',
  embeddings: 'embeddings',
  invokeAgent: 'invoke_agent',
  executeTool: 'execute_tool',
} as const

/** Ours, few. */
export const homeground = {
  /** Resource attribute: which project the spans belong to. */
  project: 'homeground.project',
  api: 'homeground.api',
  requestBody: 'homeground.request.body',
  requestPrefix: 'homeground.request.prefix',
  /** Assembled, in the shape of the unstreamed response. */
  responseBody: 'homeground.response.body',
  partial: 'homeground.partial',
  /** Content type of a response's body that was not recorded, since it is no text that is understood. */
  responseOmitted: 'homeground.response.omitted',
  /** Milliseconds from the request to the first chunk of a stream. */
  firstChunkMs: 'homeground.first_chunk_ms',
  /** 1 for the first HTTP attempt. */
  attempt: 'homeground.attempt',
  agentInput: 'homeground.agent.input',
  /** How many arguments the agent was called with, where that is not one: the input is then a list of them. */
  agentArguments: 'homeground.agent.arguments',
  agentOutput: 'homeground.agent.output',
  toolEffect: 'homeground.tool.effect',
  ioName: 'homeground.io.name',
  ioKey: 'homeground.io.key',
  ioResult: 'homeground.io.result',
  /** Prefix: `homeground.variant.NAME` = the value the product got. */
  variant: 'homeground.variant.',
  /** Prefix: `homeground.tag.NAME`. */
  tag: 'homeground.tag.',
  errorMessage: 'homeground.error.message',
  /** `trace`, `rollout` or `import`. */
  sourceKind: 'homeground.source.kind',
  sourceRef: 'homeground.source.ref',
  /** On an imported agent: messages of the conversation that came after its last model call, as JSON text. */
  importMessagesAfter: 'homeground.import.messages_after',
  replayOffTape: 'homeground.replay.off_tape',
  replayRun: 'homeground.replay.run',
  replayArm: 'homeground.replay.arm',
  replayTask: 'homeground.replay.task',
  replayRepeat: 'homeground.replay.repeat',
} as const

/** Feedback names with a meaning of their own: what should have been done, as JSON text. `env build` puts them into a task's reference. */
export const referenceFeedback = {
  /** `[{ name, arguments }]`: the effectful calls that the right answer makes. */
  actions: 'expected_actions',
  /** `["42.50"]`: texts that the messages to the user must contain. */
  outputs: 'expected_outputs',
  /** The right final answer: text. */
  output: 'expected_output',
} as const
