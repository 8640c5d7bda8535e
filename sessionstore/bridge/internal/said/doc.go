// Package said is the one reading of stored messages that the bridges share. A message is
// read as the blocks that it says, and a provider's [Format] is a table between such
// blocks and the JSON of its API. The bridges give that JSON the types of their SDKs.
//
// An answer is stored in the form that every tool reads: a list of blocks of the types
// text, thinking and tool_call, with the calls in tool_calls, too. What only the provider
// knows is beside it, as the JSON of the whole answer in metadata.<provider>.wire_content,
// where that JSON is not what [Format.Request] makes of the blocks. It is sent instead of
// the blocks as long as it says the same as they do.
package said
