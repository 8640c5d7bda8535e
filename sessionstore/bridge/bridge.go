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
