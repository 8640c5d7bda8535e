// Package jsonl frames lines. A line ends with LF; the last one may lack it.
// Lines may be of any length and hold any bytes: whether they hold JSON is
// for the caller to say.
package jsonl
