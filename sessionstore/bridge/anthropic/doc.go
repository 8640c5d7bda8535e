// Package anthropic turns stored messages into those of Anthropic's SDK, and its responses
// into messages to store. Signed thinking, calls, results, pictures and documents keep their
// order. What the rows do not say, such as citations, is kept beside them and comes back as
// it was. An answer that stopped with pause_turn is stored as any other: the next request ends
// with it, and Anthropic goes on.
package anthropic
