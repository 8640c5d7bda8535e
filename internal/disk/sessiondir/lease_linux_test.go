package sessiondir

import (
	"errors"
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/disk/vfs"
	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
)

// leasedReads are the ways to open the file f of session s, which holds
// "content".
var leasedReads = []struct {
	name string
	read func(b *Base) (string, error)
}{
	{"Open", func(b *Base) (string, error) {
		return inDir(b, func(d *Dir) (string, error) {
			f, _, err := d.Open("f")
			return all(f, err)
		})
	}},
	{"Read", func(b *Base) (string, error) {
		return inDir(b, func(d *Dir) (string, error) {
			data, _, err := d.Read("f")
			return string(data), err
		})
	}},
	{"OpenRead", func(b *Base) (string, error) {
		return inDir(b, func(d *Dir) (string, error) {
			f, err := d.OpenRead("f")
			return all(f, err)
		})
	}},
	{"OpenPlain", func(b *Base) (string, error) {
		return inDir(b, func(d *Dir) (string, error) {
			f, err := d.OpenPlain("f")
			return all(f, err)
		})
	}},
	{"Copy", func(b *Base) (string, error) {
		return inDir(b, func(d *Dir) (string, error) {
			if err := d.Copy("f", "copy", false); err != nil {
				return "", err
			}
			data, _, err := d.Read("copy")
			return string(data), err
		})
	}},
	{"Append", func(b *Base) (string, error) {
		return inDir(b, func(d *Dir) (string, error) {
			a, _, err := d.Append("f")
			if err != nil {
				return "", err
			}
			return all(a.File(), nil)
		})
	}},
	{"Edit", func(b *Base) (string, error) {
		return inDir(b, func(d *Dir) (string, error) {
			e, err := d.Edit("f")
			if err != nil {
				return "", err
			}
			return all(e.File(), nil)
		})
	}},
	{"ReadFast", func(b *Base) (string, error) {
		data, ok := b.ReadFast("s", "f")
		return string(data), unless(ok)
	}},
	{"ReadStamped", func(b *Base) (string, error) {
		data, _, ok := b.ReadStamped("s", "f")
		return string(data), unless(ok)
	}},
	{"dirread.Dir.Open", func(b *Base) (string, error) {
		return inAll(b, func(s *vfs.Reader) (string, error) {
			f, err := s.Open("s", "f")
			return all(f, err)
		})
	}},
	{"dirread.Dir.ReadFast", func(b *Base) (string, error) {
		return inAll(b, func(s *vfs.Reader) (string, error) {
			data, err := s.ReadFast("s", "f", make([]byte, 100))
			return string(data), err
		})
	}},
}

func inDir(b *Base, do func(*Dir) (string, error)) (string, error) {
	d, err := b.Dir("s")
	if err != nil {
		return "", err
	}
	got, err := do(d)
	return got, errors.Join(err, d.Close())
}

func inAll(b *Base, do func(*vfs.Reader) (string, error)) (string, error) {
	s, err := vfs.OpenReader(b.Path())
	if err != nil {
		return "", err
	}
	got, err := do(s)
	return got, errors.Join(err, s.Close())
}

func all(f io.ReadCloser, err error) (string, error) {
	if err != nil {
		return "", err
	}
	data, err := io.ReadAll(f)
	return string(data), errors.Join(err, f.Close())
}

func unless(ok bool) error {
	if !ok {
		return errors.New("not read")
	}
	return nil
}

// TestLeaseIsWaitedFor reads a file in all ways while another holds a lease on
// it, which makes an open that does not wait fail.
func TestLeaseIsWaitedFor(t *testing.T) {
	t.Parallel()
	for _, way := range leasedReads {
		t.Run(way.name, func(t *testing.T) {
			t.Parallel()
			b := openBase(t, nil)
			put(t, "content", b.Path(), "s", "f")
			for range 5 {
				lease := testenv.TakeLease(t, b.Path()+"/s/f")
				got, err := way.read(b)
				require.True(t, lease.End(), "the file was opened while the lease was held")
				require.NoError(t, err)
				require.Equal(t, "content", got)
			}
		})
	}
}
