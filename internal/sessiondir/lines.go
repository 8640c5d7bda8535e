package sessiondir

import (
	"bytes"
	"errors"
	"io"
	"runtime"
	"sync"
)

// partBytes is how many bytes of a file are worth a goroutine that reads them.
const partBytes = 2 << 20

// ReadLines is [Dir.Read] in parts. Each but the last ends with a line. Those
// of a large file are in memory of their own and are read at once: to clear
// memory, as is done before it is used again, takes as long as to read into it.
func (d *Dir) ReadLines(name string) (parts [][]byte, at Stamp, err error) {
	if parts, at, ok := d.readParts(name); ok {
		return parts, at, nil
	}
	data, at, err := d.Read(name)
	return [][]byte{data}, at, err
}

// readParts reads a large file in parts, unless anything is in the way of it.
func (d *Dir) readParts(name string) (parts [][]byte, at Stamp, ok bool) {
	f, at, err := d.Open(name)
	if err != nil {
		return nil, Stamp{}, false
	}
	n := int(min(int64(runtime.GOMAXPROCS(0)), at.Size/partBytes))
	if src, is := f.(io.ReaderAt); is && n > 1 {
		parts, err = readCuts(src, cuts(src, at.Size, n))
	}
	ok = errors.Join(err, f.Close()) == nil && len(parts) > 1 && d.leadsTo(name, at)
	return parts, at, ok
}

// cuts returns where about n parts of equal size begin, each with a line, and
// the size, where the last ends. Of a file that cannot be read it may be less.
func cuts(src io.ReaderAt, size int64, n int) []int64 {
	all := []int64{0}
	buf := make([]byte, 16<<10)
	for i := 1; i < n; i++ {
		at := max(size*int64(i)/int64(n), all[len(all)-1])
		for at < size {
			got, err := src.ReadAt(buf, at)
			if i := bytes.IndexByte(buf[:got], '\n'); i >= 0 {
				at += int64(i) + 1
				break
			}
			if at += int64(got); err != nil {
				at = size
			}
		}
		if at < size {
			all = append(all, at)
		}
	}
	return append(all, size)
}

var errMoved = errors.New("the file changed while it was read")

// readCuts reads what is between each two of the offsets.
func readCuts(src io.ReaderAt, cuts []int64) ([][]byte, error) {
	parts, errs := make([][]byte, len(cuts)-1), make([]error, len(cuts)-1)
	var wait sync.WaitGroup
	for i := range parts {
		wait.Go(func() {
			part := make([]byte, cuts[i+1]-cuts[i])
			_, errs[i] = io.ReadFull(io.NewSectionReader(src, cuts[i], int64(len(part))), part)
			if errs[i] == nil && i+1 < len(parts) && part[len(part)-1] != '\n' {
				errs[i] = errMoved
			}
			parts[i] = part
		})
	}
	wait.Wait()
	return parts, errors.Join(errs...)
}
