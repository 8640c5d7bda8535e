package foreign

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"slices"

	"github.com/klauspost/compress/zstd"
	"github.com/zeebo/xxh3"
)

// The original is kept in frames of frameSize bytes, each compressed by itself. Behind
// each stands a trailer, which programs that unpack the file pass over. It has the
// hash of what the frame holds, and its length. So what did not change can be kept and
// read alone. The bytes depend on the tool's file alone, not on how it grew.
const frameSize = 1 << 20

// trailerSize is the length of a trailer: a magic number and a length, as zstd has them
// for a frame to be skipped, the hash, and the lengths of the frame and of what it holds.
const trailerSize = 8 + 16 + 4 + 4

var trailerMagic = []byte{0x5a, 0x2a, 0x4d, 0x18, trailerSize - 8, 0, 0, 0}

// frameSum is the hash of what a frame holds.
type frameSum [16]byte

// frameSums hashes what is written to it, by frames.
type frameSums struct {
	sum  xxh3.Hasher
	n    int // bytes of the last frame
	sums []frameSum
}

// Write is that of io.Writer.
func (s *frameSums) Write(b []byte) (int, error) {
	for rest := b; len(rest) > 0; {
		n := min(len(rest), frameSize-s.n)
		_, _ = s.sum.Write(rest[:n])
		if rest, s.n = rest[n:], s.n+n; s.n == frameSize {
			s.end()
		}
	}
	return len(b), nil
}

// end ends the last frame.
func (s *frameSums) end() {
	if s.n > 0 {
		s.sums, s.n = append(s.sums, s.sum.Sum128().Bytes()), 0
		s.sum.Reset()
	}
}

// frames reads a tool's file. What a session keeps of it is read there.
type frames struct {
	io.ReaderAt          // the tool's file
	kept        *os.File // of a session; nil: none
	ends        []int64  // of the whole frames in kept that the tool's file has, too, with their trailers

	z      *zstd.Decoder
	n      int    // the frame in buf
	buf    []byte // what a frame holds; empty: none
	packed []byte
}

// keep lets what a session keeps of the tool's file be read there, as far as the file
// has the sums. It closes kept when that is nothing.
func (f *frames) keep(kept *os.File, sums []frameSum) (err error) {
	if f.ends = framesIn(kept, sums); len(f.ends) == 0 {
		return kept.Close()
	}
	if f.z, err = newDecoder(nil); err != nil {
		f.ends = nil
		return errors.Join(err, kept.Close())
	}
	f.kept = kept
	return nil
}

// leave forgets what a session keeps.
func (f *frames) leave() error {
	if f.kept == nil {
		return nil
	}
	kept := f.kept
	f.kept, f.ends, f.buf = nil, nil, nil
	f.z.Close()
	f.z = nil
	return kept.Close()
}

// framesIn returns the ends of the first frames of an original that have the sums, none
// where the file does not consist of frames.
func framesIn(f *os.File, sums []frameSum) []int64 {
	n := 0
	all := framesOf(f)
	for n < min(len(all), len(sums)) && all[n].sum == sums[n] && all[n].size == frameSize {
		n++
	}
	ends := make([]int64, n)
	for i := range ends {
		ends[i] = all[i].end
	}
	return ends
}

// frame is a frame of an original.
type frame struct {
	sum  frameSum
	size uint32 // of what it holds
	end  int64  // with its trailer
}

// framesOf returns the frames of an original, none where the file does not consist of
// frames.
func framesOf(f *os.File) (all []frame) {
	fi, err := f.Stat()
	if err != nil {
		return nil
	}
	trailer := make([]byte, trailerSize)
	for end := fi.Size(); end > 0; {
		if _, err := f.ReadAt(trailer, end-trailerSize); err != nil || !bytes.HasPrefix(trailer, trailerMagic) {
			return nil
		}
		all = append(all, frame{frameSum(trailer[8:24]), binary.LittleEndian.Uint32(trailer[28:]), end})
		if end -= trailerSize + int64(binary.LittleEndian.Uint32(trailer[24:])); end < 0 {
			return nil
		}
	}
	slices.Reverse(all)
	return all
}

// ReadAt is that of io.ReaderAt.
func (f *frames) ReadAt(b []byte, offset int64) (n int, err error) {
	for n < len(b) {
		at := offset + int64(n)
		if at >= int64(len(f.ends))*frameSize {
			k, err := f.ReaderAt.ReadAt(b[n:], at)
			return n + k, err
		}
		if f.unpack(int(at / frameSize)) {
			n += copy(b[n:], f.buf[at%frameSize:])
		}
	}
	return n, nil
}

// unpack reads a frame, and reports whether it is whole. Where the session keeps it
// damaged, the tool's file is read from there on.
func (f *frames) unpack(n int) bool {
	if f.n == n && len(f.buf) > 0 {
		return true
	}
	begin := int64(0)
	if n > 0 {
		begin = f.ends[n-1]
	}
	f.n, f.packed = n, slices.Grow(f.packed[:0], int(f.ends[n]-begin))[:f.ends[n]-trailerSize-begin]
	_, err := f.kept.ReadAt(f.packed, begin)
	if err == nil {
		f.buf, err = f.z.DecodeAll(f.packed, f.buf[:0])
	}
	if err != nil || len(f.buf) != frameSize {
		f.ends, f.buf = f.ends[:n], f.buf[:0]
		return false
	}
	return true
}
