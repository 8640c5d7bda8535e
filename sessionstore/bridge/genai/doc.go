// Package genai makes the contents of Google's Gen AI SDK of stored messages, and stored
// messages of its responses. Thoughts and calls keep their signatures. What the rows do not
// say, such as code that Gemini ran, is kept beside them and comes back as it was. A call to
// which Gemini gave no id gets one.
package genai
