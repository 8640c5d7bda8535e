// Package openai turns stored messages into the input of OpenAI's Responses API, in the
// types of its SDK, and its responses into messages to store. What the rows do not say, such
// as annotations and the ids of items, is kept beside them and comes back as it was.
//
// The conversation is in the rows and not at OpenAI: requests set Store to false and include
// reasoning.encrypted_content, so that reasoning comes along and goes back.
package openai
