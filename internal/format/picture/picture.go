package picture

import (
	"bytes"
	"encoding/binary"
)

// header is the number of bytes in which the width and the height are looked for.
const header = 256 << 10

// Picture is what a picture says of itself.
type Picture struct {
	Type          string // the media type that its bytes have; "" where they are of no type known here
	Width, Height int    // in pixels; 0 where they are not known
	Moving        bool   // it has more than one frame
	Cut           bool   // its end is missing
}

// Of returns what the picture says of itself.
func Of(d Data) Picture {
	switch start := d.AppendTo(nil, 0, 512); {
	case bytes.HasPrefix(start, []byte("\x89PNG\r\n\x1a\n")):
		return ofPNG(d)
	case bytes.HasPrefix(start, []byte("\xff\xd8\xff")):
		return ofJPEG(d)
	case bytes.HasPrefix(start, []byte("GIF87a")), bytes.HasPrefix(start, []byte("GIF89a")):
		return ofGIF(d)
	case len(start) >= 12 && string(start[:4]) == "RIFF" && string(start[8:12]) == "WEBP":
		return ofWebP(d, start)
	case len(start) >= 12 && string(start[4:8]) == "ftyp":
		return ofBoxes(d, string(start[8:12]))
	case len(start) >= 26 && string(start[:2]) == "BM":
		p := Picture{Type: "image/bmp", Width: int(int32(binary.LittleEndian.Uint32(start[18:]))), Height: int(int32(binary.LittleEndian.Uint32(start[22:])))}
		p.Height = max(p.Height, -p.Height) // negative: from the top
		return p
	case bytes.HasPrefix(start, []byte("II*\x00")), bytes.HasPrefix(start, []byte("MM\x00*")):
		return Picture{Type: "image/tiff"}
	case bytes.HasPrefix(start, []byte("%PDF-")):
		return Picture{Type: "application/pdf"}
	case bytes.HasPrefix(bytes.TrimSpace(start), []byte("<")) && bytes.Contains(start, []byte("<svg")):
		return Picture{Type: "image/svg+xml"}
	}
	return Picture{}
}

// bytesAt returns n bytes from off on, or nil where the data end before.
func (d Data) bytesAt(off, n int) []byte {
	if off < 0 || off > d.Len()-n {
		return nil
	}
	return d.AppendTo(nil, off, off+n)
}

// ofPNG reads a PNG: its chunks, each with its length before it, up to the last.
func ofPNG(d Data) Picture {
	p := Picture{Type: "image/png", Cut: true}
	for at := 8; ; {
		chunk := d.bytesAt(at, 8)
		if chunk == nil {
			return p
		}
		size := int64(binary.BigEndian.Uint32(chunk))
		if at == 8 {
			if head := d.bytesAt(16, 8); head != nil && string(chunk[4:]) == "IHDR" {
				p.Width, p.Height = int(binary.BigEndian.Uint32(head)), int(binary.BigEndian.Uint32(head[4:]))
			}
		}
		if size > int64(d.Len()-at)-12 {
			return p
		}
		at += int(size) + 12
		if string(chunk[4:]) == "IEND" {
			p.Cut = false
			return p
		}
	}
}

// ofJPEG reads a JPEG: its segments up to the compressed data, and whether these end.
func ofJPEG(d Data) Picture {
	p := Picture{Type: "image/jpeg", Cut: true}
	for at := 2; at < header; {
		segment := d.bytesAt(at, 4)
		switch {
		case segment == nil:
			return p
		case segment[0] != 0xff:
			p.Cut = false // what a decoder makes of it is not known
			return p
		case segment[1] == 0xff, segment[1] >= 0xd0 && segment[1] <= 0xd7, segment[1] == 0x01: // without a length
			at += 2
			if segment[1] == 0xff {
				at--
			}
			continue
		case segment[1] >= 0xc0 && segment[1] <= 0xcf && segment[1] != 0xc4 && segment[1] != 0xc8 && segment[1] != 0xcc:
			if frame := d.bytesAt(at+5, 4); frame != nil {
				p.Height, p.Width = int(binary.BigEndian.Uint16(frame)), int(binary.BigEndian.Uint16(frame[2:]))
			}
		case segment[1] == 0xda:
			p.Cut = !d.contains([]byte{0xff, 0xd9}, at)
			return p
		}
		at += 2 + int(binary.BigEndian.Uint16(segment[2:]))
	}
	p.Cut = false // the compressed data begin after the header that is read
	return p
}

// contains reports whether the data have some bytes from off on.
func (d Data) contains(sought []byte, off int) bool {
	const step = 4 << 10
	buf := make([]byte, 0, step+len(sought)+4)
	for ; off < d.Len(); off += step {
		if bytes.Contains(d.AppendTo(buf[:0], off, off+step+len(sought)-1), sought) {
			return true
		}
	}
	return false
}

// ofGIF reads a GIF: its blocks, up to the trailer.
func ofGIF(d Data) Picture {
	p := Picture{Type: "image/gif", Cut: true}
	screen := d.bytesAt(6, 7)
	if screen == nil {
		return p
	}
	p.Width, p.Height = int(binary.LittleEndian.Uint16(screen)), int(binary.LittleEndian.Uint16(screen[2:]))
	at, frames := 13+colors(screen[4]), 0
	for {
		switch block := d.bytesAt(at, 1); {
		case block == nil:
			return p
		case block[0] == 0x3b:
			p.Cut = false
			return p
		case block[0] == 0x21:
			at += 2
		case block[0] == 0x2c:
			image := d.bytesAt(at+9, 1)
			if image == nil {
				return p
			}
			frames++
			p.Moving = frames > 1
			at += 11 + colors(image[0])
		default:
			p.Cut = false // what a decoder makes of it is not known
			return p
		}
		for size := d.bytesAt(at, 1); ; size = d.bytesAt(at, 1) {
			if size == nil {
				return p
			}
			at += 1 + int(size[0])
			if size[0] == 0 {
				break
			}
		}
	}
}

// colors returns the bytes of the table of colors that the flags of a GIF announce.
func colors(flags byte) int {
	if flags&0x80 == 0 {
		return 0
	}
	return 3 << (flags&7 + 1)
}

// ofWebP reads a WebP.
func ofWebP(d Data, start []byte) Picture {
	p := Picture{Type: "image/webp", Cut: int(binary.LittleEndian.Uint32(start[4:]))+8 > d.Len()+1} // an odd end may lack its padding
	if len(start) < 30 {
		p.Cut = true
		return p
	}
	switch string(start[12:16]) {
	case "VP8 ":
		p.Width, p.Height = int(binary.LittleEndian.Uint16(start[26:])&0x3fff), int(binary.LittleEndian.Uint16(start[28:])&0x3fff)
	case "VP8L":
		bits := binary.LittleEndian.Uint32(start[21:])
		p.Width, p.Height = int(bits&0x3fff)+1, int(bits>>14&0x3fff)+1
	case "VP8X":
		wide := func(at int) int { return int(start[at]) | int(start[at+1])<<8 | int(start[at+2])<<16 + 1 }
		p.Width, p.Height, p.Moving = wide(24), wide(27), start[20]&0x02 != 0
	}
	return p
}

// ofBoxes reads a file of boxes: HEIC, HEIF, AVIF. The largest of its pictures counts.
func ofBoxes(d Data, brand string) (p Picture) {
	switch brand {
	case "heic", "heix", "hevc", "hevx", "heim", "heis", "hevm", "hevs":
		p.Type = "image/heic"
	case "mif1", "msf1":
		p.Type = "image/heif"
	case "avif", "avis":
		p.Type = "image/avif"
	default:
		return p
	}
	for rest := d.AppendTo(nil, 0, header); ; {
		_, after, found := bytes.Cut(rest, []byte("ispe"))
		if !found || len(after) < 12 {
			return p
		}
		w, h := int(binary.BigEndian.Uint32(after[4:])), int(binary.BigEndian.Uint32(after[8:]))
		if w < 1<<20 && h < 1<<20 && w*h > p.Width*p.Height {
			p.Width, p.Height = w, h
		}
		rest = after
	}
}
