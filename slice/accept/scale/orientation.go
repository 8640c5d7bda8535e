package scale

import (
	"bytes"
	"encoding/binary"
	"image"
)

// orientation returns the orientation, 1 to 8, that a camera noted in a JPEG (CIPA DC-008,
// Exif, tag 0x0112); 1, which needs no turn, where there is none.
func orientation(data []byte) int {
	for at := 2; at+4 <= len(data) && data[at] == 0xff && data[at+1] != 0xda; {
		size := int(binary.BigEndian.Uint16(data[at+2:]))
		end := min(at+2+size, len(data))
		if body, is := bytes.CutPrefix(data[min(at+4, end):end], []byte("Exif\x00\x00")); is && data[at+1] == 0xe1 {
			return orientationIn(body)
		}
		at += 2 + size
	}
	return 1
}

// orientationIn looks for the orientation among the entries of the first directory of a TIFF.
func orientationIn(tiff []byte) int {
	if len(tiff) < 8 {
		return 1
	}
	var order binary.ByteOrder = binary.BigEndian
	if tiff[0] == 'I' {
		order = binary.LittleEndian
	}
	at := int64(order.Uint32(tiff[4:]))
	if at < 8 || at+2 > int64(len(tiff)) {
		return 1
	}
	entries := tiff[at+2:]
	for range order.Uint16(tiff[at:]) {
		if len(entries) < 12 {
			break
		}
		if order.Uint16(entries) == 0x0112 {
			if n := int(order.Uint16(entries[8:])); n >= 1 && n <= 8 {
				return n
			}
			break
		}
		entries = entries[12:]
	}
	return 1
}

// turned returns a picture as the camera was held.
func turned(m image.Image, orientation int) image.Image {
	if orientation == 1 {
		return m
	}
	b := m.Bounds()
	w, h := b.Dx(), b.Dy()
	size := image.Rect(0, 0, w, h)
	if orientation >= 5 {
		size = image.Rect(0, 0, h, w)
	}
	made := image.NewRGBA(size)
	for y := range h {
		for x := range w {
			to := [...]image.Point{2: {w - 1 - x, y}, 3: {w - 1 - x, h - 1 - y}, 4: {x, h - 1 - y}, 5: {y, x}, 6: {h - 1 - y, x}, 7: {h - 1 - y, w - 1 - x}, 8: {y, w - 1 - x}}[orientation]
			made.Set(to.X, to.Y, m.At(b.Min.X+x, b.Min.Y+y))
		}
	}
	return made
}
