// Package anthropic turns stored messages into those of Anthropic's SDK, and its responses
// into messages to store. Signed thinking, calls, results, pictures and documents keep their
// order. What the rows do not say, such as citations, is kept beside them and comes back as
// it was.
package anthropic
