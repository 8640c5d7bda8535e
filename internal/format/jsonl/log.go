package jsonl

import (
	"bytes"
	"iter"
)

// Log reads data, an append-only log of which each line was synced before it was
// acknowledged. parse takes a line and reports whether it is a record; damaged is called
// for each other line that is not blank. Log returns the size of the lines that were
// written whole, and whether the last of them lacks its LF. Later bytes were never
// acknowledged, so they go to neither function: a last line that is no record and lacks
// its LF, as a killed writer leaves, or holds NUL, as a power cut leaves where it grew a
// file.
func Log(data []byte, parse func(Line) bool, damaged func(Line)) (whole int64, open bool) {
	return LogOf(Lines(data), int64(len(data)), parse, damaged)
}

// LogOf is [Log] for the lines up to the offset size. It stops at the line that was not
// written whole.
func LogOf(lines iter.Seq[Line], size int64, parse func(Line) bool, damaged func(Line)) (whole int64, open bool) {
	for line := range lines {
		if !line.Ended {
			line.Bytes = bytes.TrimRight(line.Bytes, "\x00") // in place of the LF
		}
		last := !line.Ended || line.Offset+int64(len(line.Bytes))+1 == size
		record := parse(line)
		if last && !record && (!line.Ended || bytes.IndexByte(line.Bytes, 0) >= 0) {
			return whole, open
		}
		if !record && len(bytes.TrimSpace(line.Bytes)) > 0 {
			damaged(line)
		}
		whole, open = line.Offset+int64(len(line.Bytes)), !line.Ended
		if line.Ended {
			whole++
		}
	}
	return whole, open
}
