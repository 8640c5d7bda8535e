package strict

// Rule is one thing that a provider refuses. The beginning of its ID names the provider.
type Rule struct {
	ID      string
	Says    string   // what a request must keep to
	Sources []string // documents, with the day on which they were read; reports, with their day
}

// The documents.
const (
	goSDK     = "https://github.com/anthropics/anthropic-sdk-go/blob/b43f0d7a/message.go 2026-07-23"
	openAPI   = "https://github.com/openai/openai-openapi/blob/f85dbe22/openapi.yaml 2026-08-21"
	genai     = "https://github.com/googleapis/go-genai/blob/6fd3e65e/types.go 2026-08-21"
	toolCalls = "https://platform.claude.com/docs/en/agents-and-tools/tool-use/handle-tool-calls 2026-11-29"
	vision    = "https://platform.claude.com/docs/en/build-with-claude/vision 2026-11-29"
	errorsDoc = "https://platform.claude.com/docs/en/api/errors 2026-11-29"
	openVis   = "https://developers.openai.com/api/docs/guides/images-vision 2026-09-19"
	geminiVis = "https://ai.google.dev/gemini-api/docs/image-understanding 2026-11-29"
	shapes    = "https://github.com/experientiallabs/experiential/pull/804 2026-09" // a table of requests and answers
	gh        = "https://github.com/"
	claude    = gh + "anthropics/claude-code/issues/"
)

// Rules are the rules of all providers.
var Rules = []Rule{
	{"anthropic.json", "the body is a JSON object without half of a surrogate pair", []string{claude + "60394 2026-05-19"}},
	{"anthropic.size", "a request has at most 32 MB; 20 MB on Bedrock, 30 MB on Vertex", []string{errorsDoc, "https://platform.claude.com/docs/en/api/overview#request-size-limits 2026-11-29"}},
	{"anthropic.required", "model, max_tokens and messages are there", []string{goSDK}},
	{"anthropic.messages", "there is a message", []string{goSDK}},
	{"anthropic.count", "there are at most 100,000 messages", []string{goSDK}},
	{"anthropic.role", "a message is the user's or the assistant's", []string{goSDK}},
	{"anthropic.first", "on Bedrock the first message is the user's", []string{gh + "elastic/kibana/pull/246393 2025-12-15"}},
	{"anthropic.alternate", "on Bedrock the sides alternate; elsewhere messages of one side are joined", []string{gh + "Portkey-AI/gateway/issues/748 2024-11-16", gh + "microsoft/semantic-kernel/issues/10281 2025-03-03"}},
	{"anthropic.content", "content is a string or a list", []string{goSDK}},
	{"anthropic.type", "a block has a type that is known", []string{goSDK}},
	{"anthropic.empty", "a user's message is not empty; an assistant's may be", []string{shapes}},
	{"anthropic.text", "a text block has a text", []string{goSDK}},
	{"anthropic.text.empty", "a text block is not empty", []string{claude + "59812 2026-05-16", shapes}},
	{"anthropic.blank", "a message of texts has one that is more than white space", []string{gh + "NousResearch/hermes-agent/pull/69517 2026-07-22", shapes}},
	{"anthropic.tool_use.role", "a call is the assistant's", []string{gh + "tghamm/Anthropic.SDK/issues/128 2025-08-03", toolCalls}},
	{"anthropic.tool_result.role", "a result is the user's", []string{gh + "tghamm/Anthropic.SDK/issues/128 2025-08-03"}},
	{"anthropic.tool_result.type", "a result holds texts, pictures, documents and search results", []string{goSDK, toolCalls}},
	{"anthropic.id", "an id has letters, digits, _ and -, at least one", []string{gh + "maximhq/bifrost/issues/5097 2026-07-10", gh + "QwenLM/qwen-code/issues/8160 2026-07-30"}},
	{"anthropic.id.unique", "calls have different ids", []string{gh + "anomalyco/opencode/issues/1279 2025-07-24", gh + "BerriAI/litellm/issues/23510 2026-03-13"}},
	{"anthropic.tool_use.name", "the name of a called tool has 1 to 200 characters", []string{"https://code.claude.com/docs/en/errors#tool-use-name-over-200-characters 2026-11-29"}},
	{"anthropic.tool_use.input", "the input of a call is an object", []string{goSDK, toolCalls}},
	{"anthropic.result.missing", "each call has a result in the next message", []string{claude + "5989 2025-08-17", toolCalls}},
	{"anthropic.result.first", "results come first in their message", []string{toolCalls, gh + "anthropics/anthropic-sdk-typescript/issues/653 2025-01-12"}},
	{"anthropic.result.unexpected", "each result has its call in the message before", []string{claude + "13460 2025-12-09"}},
	{"anthropic.result.twice", "a call has one result", []string{claude + "14110 2025-12-16"}},
	{"anthropic.server_tool", "a call of a tool that the API runs has its result in its turn, unless the turn goes on", []string{gh + "anthropics/anthropic-sdk-python/issues/961 2025-05-30", gh + "anthropics/anthropic-sdk-python/issues/1339 2026-04-06", gh + "anthropics/anthropic-sdk-typescript/issues/1090 2026-06-26"}},
	{"anthropic.thinking.fields", "thinking has its text and signature, redacted thinking its data", []string{goSDK, gh + "justlovemaki/AIClient2API/issues/437 2026-04-03"}},
	{"anthropic.thinking.signature", "a signature is not empty and is base64", []string{"https://docs.apiyi.com/en/faq/claude-thinking-signature-invalid 2026-09-29", gh + "kaitranntt/ccs/issues/415 2026-02-01"}},
	{"anthropic.thinking.last", "a message does not end with thinking", []string{gh + "tailcallhq/forgecode/issues/2107 2025-12-11", gh + "NousResearch/hermes-agent/pull/16921 2026-04-28"}},
	{"anthropic.thinking.first", "with thinking enabled, the message whose calls are being answered begins with thinking", []string{claude + "11978 2025-11-19"}},
	{"anthropic.end.thinking", "without thinking enabled, a last message of the assistant has no thinking", []string{gh + "tailcallhq/forgecode/issues/1853 2025-11-07"}},
	{"anthropic.end.space", "a last message of the assistant does not end with white space", []string{"https://dev.to/ji_ai/prefilling-claudes-response-steer-output-without-json-mode-i6l 2026-11-29"}},
	{"anthropic.prefill", "newer models do not continue an assistant's message", []string{errorsDoc}},
	{"anthropic.image", "a picture can be read", []string{claude + "56511 2026-05-06"}},
	{"anthropic.image.source", "a picture has a source", []string{goSDK}},
	{"anthropic.image.type", "a picture is JPEG, PNG, GIF or WebP", []string{vision, claude + "8184 2025-09-25"}},
	{"anthropic.image.match", "a picture's bytes are of the type that is said", []string{claude + "15746 2025-12-30", gh + "home-assistant/core/issues/167208 2026-04-02"}},
	{"anthropic.image.size", "a picture has at most 10 MB as base64; 5 MB on Bedrock and Vertex", []string{vision, gh + "can1357/oh-my-pi/pull/10633 2026-09-03"}},
	{"anthropic.image.pixels", "a picture has at most 8000 pixels a side", []string{vision, claude + "4778 2025-08-04"}},
	{"anthropic.image.many", "of more than 20 pictures each has at most 2000 pixels a side", []string{vision, gh + "charmbracelet/crush/pull/3810 2026-09-12"}},
	{"anthropic.image.count", "there are at most 600 pictures, 100 for models with a window of 200,000 tokens", []string{vision}},
	{"anthropic.document.type", "a document as base64 is a PDF", []string{goSDK}},
	{"anthropic.document", "a PDF's bytes are one", []string{claude + "5174 2025-08-05"}},
	{"anthropic.tool.name", "a tool's name has 1 to 128 letters, digits, _ and -", []string{gh + "modelcontextprotocol/modelcontextprotocol/issues/1345 2025-08-14"}},
	{"anthropic.tool.unique", "tools have different names", []string{gh + "microsoft/vscode/issues/278073 2025-11-18"}},
	{"anthropic.cache", "at most 4 blocks are marked for the cache", []string{"https://platform.claude.com/docs/en/build-with-claude/prompt-caching 2026-11-29"}},

	{"openai.size", "a request has at most 512 MB", []string{openVis}},
	{"chat.json", "the body is a JSON object", []string{openAPI}},
	{"chat.required", "model and messages are there", []string{openAPI}},
	{"chat.messages", "there is a message", []string{openAPI}},
	{"chat.role", "a role is one of six", []string{openAPI}},
	{"chat.content", "content is a string or a list", []string{openAPI}},
	{"chat.content.null", "content is missing only beside calls", []string{openAPI, gh + "vercel/ai/pull/14950 2026-05-04"}},
	{"chat.content.empty", "a list of parts is not empty", []string{openAPI, gh + "langchain-ai/langchainjs/pull/11420 2026-08-20"}},
	{"chat.part", "parts are of types of their role: results and answers have no pictures", []string{openAPI}},
	{"chat.part.text", "a text part has a text", []string{openAPI}},
	{"chat.text.length", "a text has at most 10,485,760 characters", []string{openAPI, gh + "VectorlyApp/bluebox/issues/31 2025-11-05"}},
	{"chat.calls", "a list of calls is not empty", []string{openAPI}},
	{"chat.call.id", "a call has an id", []string{openAPI}},
	{"chat.call.id.length", "an id has at most 64 characters, 40 for older models", []string{gh + "openclaw/openclaw/pull/875 2026-01-13", gh + "anomalyco/opencode/issues/12653 2026-02-08"}},
	{"chat.call.name", "the name of a called tool has 1 to 64 letters, digits, _ and -", []string{openAPI, gh + "Vortiago/mcp-azure-devops/pull/30 2025-06-08"}},
	{"chat.call.arguments", "arguments are a string, which need not be JSON", []string{openAPI}},
	{"chat.result.id", "a result names its call", []string{openAPI}},
	{"chat.result.missing", "each call has a result right behind it", []string{gh + "BerriAI/litellm/issues/10083 2025-04-17"}},
	{"chat.result.twice", "a call has one result", []string{gh + "agno-agi/agno/issues/5116 2025-10"}},
	{"chat.result.unexpected", "results are right behind their call", []string{gh + "simonw/llm/issues/937 2025-05-12"}},
	{"chat.image", "a picture is PNG, JPEG, GIF that does not move, or WebP, by its bytes", []string{openVis, gh + "STranslate/STranslate/issues/277 2024-12-09"}},
	{"chat.image.count", "there are at most 1,500 pictures", []string{openVis}},
	{"chat.tools", "there are at most 128 tools", []string{openAPI}},
	{"chat.tool.name", "a tool's name has 1 to 64 letters, digits, _ and -", []string{openAPI, gh + "vercel/ai/issues/1972 2024-06-16"}},

	{"responses.json", "the body is a JSON object", []string{openAPI}},
	{"responses.required", "model is there", []string{openAPI}},
	{"responses.role", "a role is one of four", []string{openAPI}},
	{"responses.content", "a message has content", []string{openAPI}},
	{"responses.part", "parts are of types of their role", []string{openAPI, gh + "jeremychone/rust-genai/pull/119 2026-01-17"}},
	{"responses.part.text", "a text part has a text", []string{openAPI}},
	{"responses.text.length", "a text has at most 10,485,760 characters", []string{openAPI, gh + "VectorlyApp/bluebox/issues/31 2025-11-05"}},
	{"responses.id", "the id of an item begins as the API made it, of letters, digits, _ and -", []string{gh + "nodetool-ai/nodetool/pull/4252 2026-07-13", gh + "earendil-works/pi/issues/1022 2026-01-28"}},
	{"responses.unique", "items have different ids", []string{gh + "vercel/ai/issues/7883 2025-08-08"}},
	{"responses.call_id", "a call and a result have an id of a call", []string{openAPI}},
	{"responses.call_id.length", "it has at most 64 characters", []string{openAPI, gh + "orchidfiles/ungate/issues/26 2026-07-15"}},
	{"responses.call.name", "the name of a called tool has 1 to 128 letters, digits, _ and -", []string{openAPI}},
	{"responses.call.arguments", "arguments are a string, which need not be JSON", []string{openAPI}},
	{"responses.output", "a result has an output", []string{openAPI}},
	{"responses.result.missing", "each call has a result, anywhere", []string{gh + "deepseek-ai/awesome-deepseek-integration/issues/740 2026-09-20", gh + "lace-ai/gai/pull/49 2026-07-25"}},
	{"responses.result.unexpected", "each result has a call", []string{gh + "continuedev/continue/issues/10092 2026-02-01", gh + "openai/gpt-oss/pull/309 2026-09-05"}},
	{"responses.reasoning", "reasoning has an id and a summary, which may be empty", []string{openAPI, gh + "newo-ether/Agora/issues/141 2026-09-21"}},
	{"responses.reasoning.stored", "without a store, reasoning carries its encrypted content", []string{gh + "vercel/ai/issues/7543 2025-07-25", gh + "langchain-ai/langchain/pull/38372 2026-06-22"}},
	{"responses.reasoning.encrypted", "encrypted content is what the API made", []string{gh + "openai/codex/issues/8145 2025-12-16", gh + "Wei-Shaw/sub2api/issues/2863 2026-05-28"}},
	{"responses.reasoning.follower", "a message or a call of the model follows reasoning", []string{gh + "continuedev/continue/issues/8933 2025-11-28", gh + "openai/openai-node/issues/1567 2025-07-01"}},
	{"responses.image", "a picture is PNG, JPEG, GIF that does not move, or WebP, by its bytes", []string{openVis}},
	{"responses.image.length", "a picture's URL has at most 20,971,520 characters", []string{openAPI}},
	{"responses.image.count", "there are at most 1,500 pictures", []string{openVis}},
	{"responses.tool.name", "a tool's name has 1 to 128 letters, digits, _ and -", []string{openAPI}},

	{"gemini.json", "the body is a JSON object", []string{gh + "gera2ld/ai.nvim/issues/13 2024-05-19"}},
	{"gemini.contents", "there is a content", []string{"https://ai.google.dev/api/generate-content 2026-11-29"}},
	{"gemini.role", "a role is user or model, or is missing", []string{genai, gh + "the-open-agent/openagent/issues/1666 2025-10-19"}},
	{"gemini.parts", "a content has a part", []string{"https://ai.google.dev/api/caching#Content 2026-11-29"}},
	{"gemini.part", "a part has data, and a text is not empty, unless it carries a signature", []string{"https://ai.google.dev/gemini-api/docs/thought-signatures 2026-11-29", gh + "QuantumNous/new-api/issues/632 2024-12-17", gh + "kittors/CliRelay/issues/264 2026-06-18"}},
	{"gemini.part.one", "a part has one kind of data", []string{genai}},
	{"gemini.name", "calls and responses have a name", []string{gh + "FoundationAgents/OpenManus/issues/824 2025-03-18"}},
	{"gemini.args", "arguments are an object", []string{genai}},
	{"gemini.response", "a response is an object", []string{gh + "AstrBotDevs/AstrBot/pull/7216 2026-03-31", genai}},
	{"gemini.alternate", "the user begins and the sides alternate", []string{gh + "NousResearch/hermes-agent/issues/55427 2026-06-30", gh + "NousResearch/hermes-agent/pull/55623 2026-06-30", gh + "earendil-works/pi/issues/2251 2026-03-16"}},
	{"gemini.end", "the last content is the user's", []string{gh + "microsoft/semantic-kernel/pull/13288 2025-10-23", gh + "songquanpeng/one-api/issues/836 2023-12-18"}},
	{"gemini.call.order", "calls follow a content of the user", []string{gh + "google-gemini/gemini-cli/issues/11814 2025-10-23", gh + "continuedev/continue/issues/11164 2026-03-07"}},
	{"gemini.response.order", "responses follow calls", []string{gh + "lobehub/lobehub/issues/7298 2025-04-05"}},
	{"gemini.response.number", "calls are followed by as many responses", []string{gh + "google-gemini/gemini-cli/issues/16984 2026-01-18"}},
	{"gemini.signature", "in the current turn, the first call of each step is signed, or has skip_thought_signature_validator for it (Gemini 3)", []string{"https://ai.google.dev/gemini-api/docs/thought-signatures 2026-11-29", "https://docs.cloud.google.com/vertex-ai/generative-ai/docs/thought-signatures 2026-11-29", gh + "askimo-ai/askimo/issues/543 2026-07-23"}},
	{"gemini.signature.form", "a signature is base64", []string{genai}},
	{"gemini.image", "a picture can be read", []string{gh + "AmberSahdev/Open-Interface/issues/64 2025-08-31"}},
	{"gemini.image.type", "a picture is PNG, JPEG, WebP, HEIC or HEIF", []string{geminiVis, gh + "google-gemini/gemini-cli/issues/3054 2025-07-02", gh + "microsoft/vscode/issues/286628 2026-01-08"}},
	{"gemini.image.count", "there are at most 3,600 pictures, 3,000 on Vertex", []string{geminiVis, "https://docs.cloud.google.com/vertex-ai/docs/generative-ai/image/image-captioning 2026-11-29"}},
	{"gemini.tools", "there are at most 512 tools", []string{genai}},
	{"gemini.tool.name", "a tool's name has 1 to 128 letters, digits, _, ., : and -, and begins with a letter or _", []string{genai, gh + "kaitranntt/ccs/issues/219 2025-12-28"}},
}
