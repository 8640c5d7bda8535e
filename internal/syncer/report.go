package syncer

import "github.com/amplifier-go/sessionstorage/internal/segment"

// Report is what a check of a session found in the cloud.
type Report struct {
	Lines     int64
	Bytes     int64
	Documents int
	Problems  []Problem
	Mended    int
}

// Problem is lines or a file that cannot be read from the cloud. Package hybrid
// documents its fields.
type Problem struct {
	Stream   string
	File     string
	From, To int64
	Document string
	Mended   bool
	Err      error

	start, end segment.Point
	listed     []segment.Info // of Stream, where Document is damaged
}
