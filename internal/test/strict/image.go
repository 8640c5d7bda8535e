package strict

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"image"
	"image/gif"
	_ "image/jpeg" // sizes of pictures
	_ "image/png"  // sizes of pictures
	"strings"
)

// picture is what the bytes of a picture say of it.
type picture struct {
	kind          string // png, jpeg, gif, webp, heic; "" if it is none of these
	width, height int    // 0 where unknown
	moves         bool   // it has more than one frame
}

// look reads the head of a picture.
func look(b []byte) picture {
	if c, kind, err := image.DecodeConfig(bytes.NewReader(b)); err == nil {
		p := picture{kind: kind, width: c.Width, height: c.Height}
		if kind == "gif" {
			all, err := gif.DecodeAll(bytes.NewReader(b))
			p.moves = err == nil && len(all.Image) > 1
		}
		return p
	}
	switch {
	case len(b) >= 30 && string(b[:4]) == "RIFF" && string(b[8:12]) == "WEBP":
		return webp(b)
	case len(b) >= 12 && string(b[4:8]) == "ftyp" && oneOf(string(b[8:12]), "heic heix mif1 msf1"):
		return picture{kind: "heic"}
	}
	return picture{}
}

func webp(b []byte) picture {
	switch string(b[12:16]) {
	case "VP8X":
		return picture{kind: "webp", width: 1 + int(b[24]) + int(b[25])<<8 + int(b[26])<<16, height: 1 + int(b[27]) + int(b[28])<<8 + int(b[29])<<16}
	case "VP8L":
		bits := binary.LittleEndian.Uint32(b[21:])
		return picture{kind: "webp", width: int(bits&0x3fff) + 1, height: int(bits>>14&0x3fff) + 1}
	case "VP8 ":
		return picture{kind: "webp", width: int(binary.LittleEndian.Uint16(b[26:]) & 0x3fff), height: int(binary.LittleEndian.Uint16(b[28:]) & 0x3fff)}
	}
	return picture{}
}

// decode returns the bytes of base64, with or without padding.
func decode(data string) ([]byte, bool) {
	b, err := base64.StdEncoding.DecodeString(data)
	if err != nil {
		b, err = base64.RawStdEncoding.DecodeString(data)
	}
	return b, err == nil && data != ""
}

// dataURL returns what a data URL holds.
func dataURL(url string) (media, data string, ok bool) {
	rest, ok := strings.CutPrefix(url, "data:")
	if !ok {
		return "", "", false
	}
	return strings.Cut(rest, ";base64,")
}
