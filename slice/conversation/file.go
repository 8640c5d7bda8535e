package conversation

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/amplifier-go/sessionstorage/internal/format/limits"
	"github.com/amplifier-go/sessionstorage/internal/format/picture"
	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// File is an image, a document or a sound in a message.
type File struct {
	N      int    `json:"n"`                // index of the message that holds it
	I      int    `json:"i"`                // its number in that message, from 0
	Label  string `json:"label"`            // for people: its kind and its size, as "image 1,200 × 800"
	Name   string `json:"name,omitempty"`   // "" where it has none
	Media  string `json:"media,omitempty"`  // its media type: of an image by its first bytes, else as the message says
	Size   int    `json:"size"`             // in bytes; 0 where the message only points to it
	Image  bool   `json:"image,omitempty"`  // a PNG, JPEG, GIF or WebP that a program can show: it is not too large
	Width  int    `json:"width,omitempty"`  // of an image; 0 where it is unknown
	Height int    `json:"height,omitempty"` // of an image

	block int    // of the message's content
	text  []byte // base64
}

// Limits of an image that a program shows. A few bytes may unfold to a very large picture.
const (
	maxImage  = 16 << 20 // bytes
	maxPixels = 64 << 20
)

// Files returns the files of a message, also of results of tools in it, in their order.
// Their index N is 0.
func Files(m sessionstore.Message) (all []File) {
	for i, block := range blocks(m) {
		for _, f := range filesIn(block) {
			f.I, f.block = len(all), i
			all = append(all, f)
		}
	}
	return all
}

// filesIn returns the files of a block: itself, or the files of a result.
func filesIn(block []byte) (all []File) {
	if f, ok := fileOf(block); ok {
		return []File{f}
	}
	if isBlock(block, "tool_result") {
		raw, _ := pyjson.Lookup(block, "content")
		for inner := range pyjson.Elements(raw) {
			if f, ok := fileOf(inner); ok {
				all = append(all, f)
			}
		}
	}
	return all
}

// Data returns the bytes of a file. The error is for text that is no base64, and for a file
// that is elsewhere.
func (f File) Data() ([]byte, error) {
	if len(f.text) == 0 {
		return nil, fmt.Errorf("file %d of message %d is not in the message", f.I+1, f.N+1)
	}
	data, ok := picture.Read(f.text)
	if !ok {
		return nil, fmt.Errorf("file %d of message %d: it is not base64", f.I+1, f.N+1)
	}
	return data.AppendTo(nil, 0, data.Len()), nil
}

// kinds are the types of blocks that hold a file, with the word for it.
var kinds = map[string]string{
	"image": "image", "image_url": "image", "input_image": "image",
	"document": "document", "file": "file", "input_file": "file", "resource": "file", "media": "file",
	"audio": "sound", "input_audio": "sound", "audio_url": "sound", "video": "video", "video_url": "video",
}

// fileOf returns the file that a block is. The APIs of models and MCP have a form each.
func fileOf(block []byte) (f File, ok bool) {
	kind := kinds[member(block, "type")]
	inner := block
	for _, name := range []string{"source", "image_url", "file", "input_audio", "resource", "inline_data", "inlineData", "audio_url", "video_url"} {
		raw, _ := pyjson.Lookup(block, name)
		switch pyjson.KindOf(raw) {
		case pyjson.Object:
			inner = raw
			if strings.HasPrefix(name, "inline") {
				kind = cmp.Or(kind, "file")
			}
		case pyjson.String:
			if kind != "" {
				f.take(raw)
			}
		}
	}
	if kind == "" {
		return f, false
	}
	first := func(names ...string) string {
		for _, name := range names {
			if text := cmp.Or(member(inner, name), member(block, name)); text != "" {
				return text
			}
		}
		return ""
	}
	f.Media = cmp.Or(first("media_type", "mimeType", "mime_type"), f.Media)
	f.Name = first("filename", "title", "name")
	at := ""
	for _, name := range []string{"data", "file_data", "blob", "url", "uri", "text"} {
		raw, found := pyjson.Lookup(inner, name)
		if !found || pyjson.KindOf(raw) != pyjson.String || f.text != nil {
			continue
		}
		f.take(raw)
		if name == "text" || member(inner, "type") == "text" { // a document of plain text
			f.Size, f.text = len(pyjson.Text(raw)), nil
		}
	}
	if f.text == nil && f.Size == 0 {
		at = first("url", "uri", "image_url", "file_id")
	}
	f.look()
	f.Label = label(kind, f, at)
	return f, f.text != nil || f.Size > 0 || at != ""
}

// take takes the JSON of base64, or of an address of the kind data:.
func (f *File) take(raw []byte) {
	text := raw[1 : len(raw)-1]
	if bytes.IndexByte(text, '\\') >= 0 {
		text = []byte(pyjson.Text(raw))
	}
	switch {
	case bytes.HasPrefix(text, []byte("data:")):
		head, data, _ := bytes.Cut(text, []byte(","))
		media, inBase64 := bytes.CutSuffix(head[len("data:"):], []byte(";base64"))
		f.Media = string(media)
		if text = data; !inBase64 {
			f.Size = len(data)
			return
		}
	case bytes.Contains(text[:min(len(text), 16)], []byte(":")): // an address
		return
	}
	f.text = bytes.TrimRight(text, "=\r\n ")
	f.Size = len(f.text) * 3 / 4
}

// look finds out whether the file is an image that programs show.
func (f *File) look() {
	data, ok := picture.Read(f.text)
	is := picture.Of(data)
	if !ok || is.Width <= 0 || is.Height <= 0 || !slices.Contains([]string{"image/png", "image/jpeg", "image/gif", "image/webp"}, is.Type) {
		return
	}
	f.Media, f.Width, f.Height = is.Type, is.Width, is.Height
	f.Image = f.Size <= maxImage && f.Width <= maxPixels/f.Height
}

// label returns the words for a file: an image by its width and height, else its name or
// its media type, and its size or where it is.
func label(kind string, f File, at string) string {
	switch {
	case f.Image:
		return fmt.Sprintf("image %s × %s", thousands(f.Width), thousands(f.Height))
	case at != "":
		return kind + " at " + short(at)
	}
	words := kind
	if name := cmp.Or(f.Name, f.Media); name != "" {
		words += " " + short(name)
	}
	if f.Width > 0 {
		words += fmt.Sprintf(", %s × %s", thousands(f.Width), thousands(f.Height))
	}
	return words + ", " + limits.Bytes(f.Size)
}

// short returns the beginning of a text.
func short(s string) string { return strings.ToValidUTF8(s[:min(len(s), 200)], "") }

// thousands returns a number with a comma before each three digits.
func thousands(n int) string {
	text := strconv.Itoa(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}
