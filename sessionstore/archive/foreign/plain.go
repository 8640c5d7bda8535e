package foreign

import (
	"context"
	"io"
	"os"
	"strings"
)

// openPlain opens a file, also a compressed one, for reading what it holds now.
func openPlain(ctx context.Context, path string) (r io.ReaderAt, size int64, leave func(), err error) {
	f, fi, err := openRegular(path)
	if err != nil {
		return nil, 0, nil, err
	}
	shut := func() { _ = f.Close() } // it was only read
	if strings.HasSuffix(path, packedSuffix) {
		p, err := newPacked(ctx, f)
		if err != nil {
			shut()
			return nil, 0, nil, err
		}
		return p, p.size, func() { p.close(); shut() }, nil
	}
	return readerOf(f), fi.Size(), shut, nil
}

// readerOf returns what reads a file that is open. A test counts there.
var readerOf = func(f *os.File) io.ReaderAt { return f }
