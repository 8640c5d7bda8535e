// Package anthropic makes the messages of Anthropic's SDK of stored messages, and stored
// messages of its responses. Signed thinking, calls, results, pictures and documents keep
// their order. What the rows do not say, such as citations, is kept beside them and comes
// back as it was.
package anthropic
