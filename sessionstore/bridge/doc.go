// Package bridge has what the bridges to the APIs of models share: anthropic, openai and
// genai, each a package and a module of its own, since it needs the API's SDK. README.md
// has an agent.
package bridge
