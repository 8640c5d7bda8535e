// Package anthropic makes the messages of Anthropic's SDK of stored messages, and stored
// messages of its responses.
//
// [Params] gives what a request takes, [Message] the row of an answer, also of one that a
// stream accumulated, and [Event] the event of which usage is summed up:
//
//	params, report, err := anthropic.Params(messages)
//	response, err := client.Messages.New(ctx, sdk.MessageNewParams{Messages: params, …})
//	row, err := anthropic.Message(response)
//
// Signed thinking, calls, results, pictures and documents keep their order. What the rows
// do not say, such as citations, is kept beside them and comes back as it was.
package anthropic
