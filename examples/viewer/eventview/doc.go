// Package eventview gives a page random access to the events of a log by their
// number, also to those that a filter lets through. It keeps one cursor for
// some hundred events, so that its memory does not grow with the log's lines,
// and never reads the data of an event.
package eventview
