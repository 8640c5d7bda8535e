package picture

import (
	"bytes"
	"encoding/binary"
	"math"
)

// header is the number of bytes in which the width and the height are looked for.
const header = 256 << 10

// Picture is what the header of a picture says.
type Picture struct {
	Type          string // the media type that its bytes have; "" where they are of no type known here
	Width, Height int    // in pixels; 0 where they are not known
}

// Of returns what the header of a picture says.
func Of(d Data) Picture {
	switch start := d.AppendTo(nil, 0, 512); {
	case bytes.HasPrefix(start, []byte("\x89PNG\r\n\x1a\n")):
		return ofPNG(d)
	case bytes.HasPrefix(start, []byte("\xff\xd8\xff")):
		return ofJPEG(d)
	case bytes.HasPrefix(start, []byte("GIF87a")), bytes.HasPrefix(start, []byte("GIF89a")):
		return ofGIF(d)
	case len(start) >= 12 && string(start[:4]) == "RIFF" && string(start[8:12]) == "WEBP":
		return ofWebP(start)
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

// ofPNG reads the first chunk of a PNG.
func ofPNG(d Data) Picture {
	p := Picture{Type: "image/png"}
	if head := d.bytesAt(12, 12); head != nil && string(head[:4]) == "IHDR" {
		side := func(at int) int { return int(min(binary.BigEndian.Uint32(head[at:]), math.MaxInt32)) }
		p.Width, p.Height = side(4), side(8)
	}
	return p
}

// ofJPEG reads the segments of a JPEG up to its frame.
func ofJPEG(d Data) Picture {
	p := Picture{Type: "image/jpeg"}
	for at := 2; ; {
		marker, next := segment(d, at)
		switch {
		case next == 0 || marker == startOfScan:
			return p
		case marker >= 0xc0 && marker <= 0xcf && marker != 0xc4 && marker != 0xc8 && marker != 0xcc:
			if frame := d.bytesAt(at+5, 4); frame != nil {
				p.Height, p.Width = int(binary.BigEndian.Uint16(frame)), int(binary.BigEndian.Uint16(frame[2:]))
			}
			return p
		}
		at = next
	}
}

const startOfScan = 0xda

// segment returns the marker of the segment of a JPEG at an offset, and where the next one
// begins; 0: there is none, or not in the header that is read.
func segment(d Data, at int) (marker byte, next int) {
	head := d.bytesAt(at, 4)
	switch {
	case head == nil || at >= header || head[0] != 0xff:
		return 0, 0
	case head[1] == 0xff: // filling
		return 0, at + 1
	case head[1] >= 0xd0 && head[1] <= 0xd7 || head[1] == 0x01: // without a length
		return head[1], at + 2
	}
	return head[1], at + 2 + int(binary.BigEndian.Uint16(head[2:]))
}

// Body follows the data of a picture of a type that [Of] returned up to their end. It reports
// whether a GIF has more than one frame, and whether the end is missing. Where it cannot tell,
// it reports neither.
func Body(d Data, kind string) (moving, cut bool) {
	switch kind {
	case "image/png":
		return false, !pngEnds(d)
	case "image/jpeg":
		for at := 2; ; {
			marker, next := segment(d, at)
			switch {
			case marker == startOfScan:
				return false, !d.contains([]byte{0xff, 0xd9}, at)
			case next == 0:
				return false, d.bytesAt(at, 4) == nil
			}
			at = next
		}
	case "image/gif":
		return followGIF(d)
	case "image/webp":
		size := d.bytesAt(4, 4)
		return false, size == nil || int64(binary.LittleEndian.Uint32(size))+8 > int64(d.Len())+1 // an odd end may lack its padding
	}
	return false, false
}

// pngEnds reports whether a PNG has its last chunk. Each chunk has its length before it.
func pngEnds(d Data) bool {
	for at := 8; ; {
		chunk := d.bytesAt(at, 8)
		if chunk == nil {
			return false
		}
		size := int64(binary.BigEndian.Uint32(chunk))
		if size > int64(d.Len()-at)-12 {
			return false
		}
		if string(chunk[4:]) == "IEND" {
			return true
		}
		at += int(size) + 12
	}
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

// ofGIF reads the screen of a GIF.
func ofGIF(d Data) Picture {
	p := Picture{Type: "image/gif"}
	if screen := d.bytesAt(6, 4); screen != nil {
		p.Width, p.Height = int(binary.LittleEndian.Uint16(screen)), int(binary.LittleEndian.Uint16(screen[2:]))
	}
	return p
}

// followGIF follows the blocks of a GIF up to its trailer, which may be missing after a frame.
func followGIF(d Data) (moving, cut bool) {
	flags := d.bytesAt(10, 1)
	if flags == nil {
		return false, true
	}
	for at, frames := 13+colors(flags[0]), 0; ; {
		switch block := d.bytesAt(at, 1); {
		case block == nil:
			return moving, frames == 0
		case block[0] == 0x21: // an extension
			at += 2
		case block[0] == 0x2c: // a frame
			flags := d.bytesAt(at+9, 1)
			if flags == nil {
				return moving, true
			}
			frames++
			moving = frames > 1
			at += 11 + colors(flags[0])
		default: // the trailer, or what a decoder makes of it is not known
			return moving, false
		}
		for ended := false; !ended; {
			size := d.bytesAt(at, 1)
			if size == nil {
				return moving, true
			}
			at += 1 + int(size[0])
			ended = size[0] == 0
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

// ofWebP reads the first chunk of a WebP.
func ofWebP(start []byte) Picture {
	p := Picture{Type: "image/webp"}
	switch chunk := string(start[12:min(len(start), 16)]); {
	case chunk == "VP8L" && len(start) >= 25:
		bits := binary.LittleEndian.Uint32(start[21:])
		p.Width, p.Height = int(bits&0x3fff)+1, int(bits>>14&0x3fff)+1
	case len(start) < 30:
	case chunk == "VP8 ":
		p.Width, p.Height = int(binary.LittleEndian.Uint16(start[26:])&0x3fff), int(binary.LittleEndian.Uint16(start[28:])&0x3fff)
	case chunk == "VP8X":
		wide := func(at int) int { return int(start[at]) | int(start[at+1])<<8 | int(start[at+2])<<16 + 1 }
		p.Width, p.Height = wide(24), wide(27)
	}
	return p
}

// ofBoxes reads the header of a file of boxes: HEIC, HEIF, AVIF. The largest of its pictures counts.
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
	rest := d.AppendTo(nil, 0, header)
	if brands := rest[:min(len(rest), int(rest[3]))]; p.Type == "image/heif" && bytes.Contains(brands, []byte("avif")) { // a general brand first
		p.Type = "image/avif"
	}
	for {
		_, after, found := bytes.Cut(rest, []byte("ispe"))
		if !found || len(after) < 12 {
			return p
		}
		w, h := binary.BigEndian.Uint32(after[4:]), binary.BigEndian.Uint32(after[8:])
		if side := max(w, h); side < 1<<20 && int(side) > max(p.Width, p.Height) {
			p.Width, p.Height = int(w), int(h)
		}
		rest = after
	}
}
