// Package turns classifies the messages of a conversation: which of them begin a turn,
// which a person wrote, which calls of tools they make and which they answer. It also
// matches calls with results. It is pure: it reads only the JSON of messages, so that the
// store and the packages above it have one rule.
package turns
