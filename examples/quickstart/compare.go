package main

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

const (
	transcriptFile = "transcript.jsonl"
	metadataFile   = "metadata.json"
	backupExt      = ".backup"
)

// content is the size of a file and the SHA-256 of its first bytes, see contentOf.
type content struct {
	size int64
	sum  string
}

// snapshot returns the content of the files in dir.
func snapshot(dir string) (map[string]content, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	files := map[string]content{}
	for _, e := range entries {
		if !e.Type().IsRegular() || strings.HasPrefix(e.Name(), ".") {
			continue
		}
		c, err := contentOf(filepath.Join(dir, e.Name()), -1)
		if errors.Is(err, fs.ErrNotExist) {
			continue // another program removed it just now
		}
		if err != nil {
			return nil, err
		}
		files[e.Name()] = c
	}
	return files, nil
}

// contentOf reads the first n bytes of a file, or the whole file when n is negative.
func contentOf(path string, n int64) (c content, err error) {
	f, err := os.Open(path)
	if err != nil {
		return content{}, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	var r io.Reader = f
	if n >= 0 {
		r = io.LimitReader(f, n)
	}
	sum := sha256.New()
	size, err := io.Copy(sum, r)
	return content{size, fmt.Sprintf("%.16x", sum.Sum(nil))}, err
}

// compare prints whether the transcript in dir begins with its earlier content, and which
// backups are the replaced files. It fails if another file does not begin with its earlier
// content.
func (s *steps) compare(dir string, before map[string]content) error {
	after, err := snapshot(dir)
	if err != nil {
		return err
	}
	old := before[transcriptFile]
	s.tell("", "%s: %s, now %s", transcriptFile, size(old.size), size(after[transcriptFile].size))
	first, err := contentOf(filepath.Join(dir, transcriptFile), old.size)
	if err != nil {
		return err
	}
	if old.size > 0 {
		s.tell("", "  sha256 of the first %s before  %s", size(old.size), old.sum)
		s.tell("", "  %*s after   %s", len("sha256 of the first "+size(old.size)), "", first.sum)
	}
	if old.size > 0 && first != old {
		s.tell("", "  not the same: it held blank lines or damage and was written anew")
	}
	for _, name := range []string{transcriptFile, metadataFile} {
		if old, ok := before[name]; ok && after[name+backupExt] == old {
			s.tell("", "%s: what %s was, %s", name+backupExt, name, size(old.size))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(before)) {
		if strings.HasPrefix(name, transcriptFile) || strings.HasPrefix(name, metadataFile) {
			continue
		}
		now, err := contentOf(filepath.Join(dir, name), before[name].size)
		if err != nil {
			return err
		}
		if now != before[name] {
			return fmt.Errorf("compare %s: another program changed it", name)
		}
		s.tell("", "%s: untouched, sha256 %s", printable(name), now.sum)
	}
	fmt.Fprintln(s.out)
	return nil
}
