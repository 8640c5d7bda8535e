package slice

import (
	"bytes"
)

// blockKind is what a provider makes of a block.
type blockKind int

const (
	gone     blockKind = iota // it is removed
	silent                    // it stays, but is not sent
	textual                   // it is a text, an image or the like
	thinking                  // it is thinking that is sent
	calling                   // it is a call
	resulting
)

// block is an element of content.
type block struct {
	kind blockKind
	raw  []byte
}

func arrayOf(list []block) []byte {
	parts := make([][]byte, len(list))
	for i, b := range list {
		parts[i] = b.raw
	}
	return append(append([]byte{'['}, bytes.Join(parts, []byte(", "))...), ']')
}

func textBlock(text []byte) []byte {
	return append(append([]byte(`{"type": "text", "text": `), text...), '}')
}
