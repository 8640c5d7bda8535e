// Package genai turns stored messages into the contents of Google's Gen AI SDK, and its
// responses into messages to store. Thoughts and calls keep their signatures. What the rows
// do not say, such as code that Gemini ran, is kept beside them and comes back as it was. A
// call to which Gemini gave no id gets one.
package genai
