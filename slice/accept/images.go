package accept

import (
	"bytes"

	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
	"github.com/amplifier-go/sessionstorage/internal/store/turns"
)

// quotedLeftOut is the text in the place of an image that is too large. Sending that image
// again with each turn, a session could not be continued.
var quotedLeftOut = []byte(`"(An image was left out: it is larger than the model takes.)"`)

// isLarge reports whether a block is an image with more bytes than the provider takes. Images
// that the block only points to are not judged.
func (e *examiner) isLarge(raw []byte) bool {
	if e.imageLimit == 0 || len(raw) <= e.imageLimit {
		return false
	}
	f := turns.Members(raw, "type", "source", "image_url")
	data := f[2]
	switch turns.TextOf(f[0]) {
	case "image":
		data = turns.Members(f[1], "data")[0]
	case "image_url":
		data = turns.Members(f[2], "url")[0]
	case "input_image":
	default:
		return false
	}
	data = bytes.Trim(data, `"`)
	if bytes.HasPrefix(data, []byte("data:")) {
		_, data, _ = bytes.Cut(data, []byte(","))
	}
	return len(data) > e.imageLimit
}

// images returns a result, a message or a block, in whose content no image is too large.
func (e *examiner) images(result []byte) []byte {
	content := turns.Members(result, "content")[0]
	if e.imageLimit == 0 || len(content) <= e.imageLimit || pyjson.KindOf(content) != pyjson.Array {
		return result
	}
	var list []block
	before := len(e.found)
	for raw := range pyjson.Elements(content) {
		if e.isLarge(raw) {
			e.report(LargeImage, "")
			raw = textBlock(quotedLeftOut)
		}
		list = append(list, block{textual, raw})
	}
	if len(e.found) == before {
		return result
	}
	return pyjson.Splice(result, "content", arrayOf(list))
}
