package segment

import (
	"encoding/base64"
)

// sizeEstimate estimates, from above, how large the document of the open segment
// will be. Rows count with their full size until they have been measured.
type sizeEstimate struct {
	fixed      int // index, descriptions
	label      int // hashes, index, names of chunks
	measured   int // bytes, compressed
	unmeasured int // bytes, not compressed
	rows       int // that were measured
}

const (
	headBytes     = 900 // of a document without rows: ids, hashes, names of members
	refBytes      = 300 // of a description in base64, at most, without chunks
	nameBytes     = 43  // of the name of a chunk in the label
	chunkRefBytes = 58  // of the name of a chunk in a description
)

// labelBytes returns what a row adds to the label of a document.
func labelBytes(r *row) int {
	n := base64.StdEncoding.EncodedLen(check) + 1 + blockBytes
	if r.ref != nil {
		n += len(r.ref.Chunks) * nameBytes
	}
	return n
}

// rowBytes returns what a row adds to a document, besides what is compressed.
func rowBytes(r *row) int {
	n := labelBytes(r)
	if r.ref != nil {
		n += refBytes + len(r.ref.Chunks)*chunkRefBytes
	}
	return n
}

func (f *sizeEstimate) add(r *row) {
	f.fixed += rowBytes(r)
	f.label += labelBytes(r)
	f.unmeasured += len(r.data) + 1
}

// upperBound returns how many bytes the document has with further bytes of payload.
func (f *sizeEstimate) upperBound(more int) int {
	return headBytes + f.fixed + encodedBytes(f.measured+f.unmeasured+more)
}

// encodedBytes returns how many bytes so many bytes of payload take, at most.
func encodedBytes(payload int) int { return base64.StdEncoding.EncodedLen(payload + payload/128 + 64) }

// UpperBound returns how many bytes the document of the segment has at most. It is
// several times too high for lines that are stored as differences or compress well.
func (in *Info) UpperBound() int64 {
	refs := in.Bytes / largeMin
	fixed := in.lines()*int64(rowBytes(&row{})) + refs*(refBytes+2*(nameBytes+chunkRefBytes))
	return headBytes + fixed + int64(encodedBytes(int(in.Bytes)))
}
