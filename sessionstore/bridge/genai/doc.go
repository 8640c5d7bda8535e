// Package genai makes the contents of Google's Gen AI SDK of stored messages, and stored
// messages of its responses.
//
// [Params] gives what a request takes, [Message] the row of an answer, also of the parts of
// a stream, and [Event] the event of which usage is summed up:
//
//	contents, report, err := genai.Params(messages)
//	response, err := client.Models.GenerateContent(ctx, model, contents, config)
//	row, err := genai.Message(response)
//
// Thoughts and calls keep their signatures. What the rows do not say, such as code that
// Gemini ran, is kept beside them and comes back as it was. A call to which Gemini gave no
// id gets one.
package genai
