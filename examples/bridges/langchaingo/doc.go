// Package langchaingo keeps the chat history of a langchaingo program in a
// session, which the Python tools can list, resume, fork and repair.
//
// A [History] is a schema.ChatMessageHistory, so every memory of langchaingo
// takes it:
//
//	buffer := memory.NewConversationBuffer(memory.WithChatHistory(langchaingo.New(store, id)))
//
// Messages are stored in the shapes of the reference:
//
//	HumanChatMessage    {"role": "user", "content"}
//	AIChatMessage       {"role": "assistant", "content", "reasoning_content", "tool_calls"}
//	ToolChatMessage     {"role": "tool", "content", "tool_call_id"}
//	GenericChatMessage  {"role", "content", "name"}
//
// each with its time in metadata.timestamp. Rows that other tools wrote are
// read in these forms too: blocks of content become their text, and roles that
// langchaingo does not know become generic messages.
//
// # What differs from a history in memory
//
// System messages are not stored, as in the reference: they belong in the
// prompt. FunctionChatMessage and AIChatMessage.FunctionCall, which langchaingo
// deprecates, are refused, since no provider takes a call without an id.
//
// Setting messages changes the session. A ConversationTokenBuffer drops the
// oldest messages that way; the transcript before the last change becomes its backup. To
// send less than is stored, cut a copy with slice.Window instead.
package langchaingo
