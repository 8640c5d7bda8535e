package foreign

import (
	"encoding/binary"
	"errors"
	"io"

	"github.com/klauspost/compress/zstd"
	"github.com/zeebo/xxh3"
)

// writeOriginal writes the tool's file, compressed.
func (h *history) writeOriginal(w io.Writer) error {
	n := int64(len(h.file.ends))
	if n > 0 {
		if _, err := io.Copy(w, io.NewSectionReader(h.file.kept, 0, h.file.ends[n-1])); err != nil {
			return err
		}
	}
	z, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(frameSize), zstd.WithLowerEncoderMem(true))
	if err != nil {
		return err
	}
	plain, packed := make([]byte, frameSize), []byte(nil)
	for _, sum := range h.t.sums[n:] {
		plain = plain[:min(frameSize, h.size-n*frameSize)]
		if k, err := h.file.ReaderAt.ReadAt(plain, n*frameSize); k < len(plain) {
			return shortRead(err)
		}
		if frameSum(xxh3.Hash128(plain).Bytes()) != sum {
			return ErrChanged
		}
		packed = z.EncodeAll(plain, packed[:0])
		size := uint32(len(packed))
		packed = append(append(packed, trailerMagic...), sum[:]...)
		packed = binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(packed, size), uint32(len(plain)))
		if _, err := w.Write(packed); err != nil {
			return err
		}
		n++
	}
	return z.Close()
}

func shortRead(err error) error {
	if errors.Is(err, io.EOF) {
		return ErrChanged
	}
	return err
}
