// Package bridge has what the bridges to the APIs of models share. Each bridge is a package
// and a module of its own, as it needs the API's SDK:
//
//   - sessionstore/bridge/anthropic: the Messages API, by anthropic-sdk-go
//   - sessionstore/bridge/openai: the Responses API, by openai-go
//   - sessionstore/bridge/genai: the Gemini API, by google.golang.org/genai
//
// Each has Params, which makes the SDK's request messages of stored messages, Message,
// which makes a stored message of the SDK's response, and Event, which makes the event of
// which the usage is summed up.
package bridge

import "fmt"

// Report tells what of a conversation a request does not say.
type Report struct {
	System  []string  // the texts of system and developer messages: they are a field of the request
	LeftOut []LeftOut // in the order of the conversation
}

// LeftOut is a part of a message that was left out of a request or changed in it.
type LeftOut struct {
	Row  int    // index of the message
	What string // such as "thinking of openai" or "audio", or the Reason of package accept that was mended
}

// String returns the number of the message, from 1, and what was left out. It holds no
// content of the message.
func (l LeftOut) String() string { return fmt.Sprintf("message %d: %s", l.Row+1, l.What) }
