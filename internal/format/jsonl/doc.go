// Package jsonl frames lines. A line ends with LF; the last one may lack it. Lines may be
// of any length and hold any bytes: the caller checks whether they hold JSON.
package jsonl
