// Package openai makes the input of OpenAI's Responses API, in the types of its SDK, of
// stored messages, and stored messages of its responses.
//
// [Params] gives what a request takes, [Message] the row of an answer, also of the response
// with which a stream ends, and [Event] the event of which usage is summed up:
//
//	input, report, err := openai.Params(messages)
//	response, err := client.Responses.New(ctx, responses.ResponseNewParams{
//		Input: responses.ResponseNewParamsInputUnion{OfInputItemList: input}, …})
//	row, err := openai.Message(response)
//
// The conversation is in the rows and not at OpenAI: requests set Store to false and include
// reasoning.encrypted_content, so that reasoning comes along and goes back. What the rows do
// not say, such as annotations and the ids of items, is kept beside them and comes back as
// it was.
package openai
