package crashsim

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
)

// snapshot reads the tree at base into a disk on which everything is durable.
func snapshot(base string) (*disk, error) {
	d := &disk{volatile: tree{}}
	seen := map[int]fs.FileInfo{} // files, to find hard links
	err := filepath.WalkDir(base, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(base, name)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		n := d.known(info, seen)
		if n == root {
			if n, err = d.read(name, info); err != nil {
				return err
			}
			if info.Mode().IsRegular() {
				seen[n] = info
			}
		}
		if rel != "." {
			dir, _ := d.volatile.find(path.Dir(rel))
			d.volatile.bind(binding{dir, path.Base(rel), n}, d.volatile[dir].time)
		}
		return nil
	})
	d.durable = maps.Clone(d.volatile)
	return d, err
}

// known returns the inode that has been read under another name, or root.
func (d *disk) known(info fs.FileInfo, seen map[int]fs.FileInfo) int {
	for n, other := range seen {
		if os.SameFile(info, other) {
			return n
		}
	}
	return root
}

// read adds the file or directory name.
func (d *disk) read(name string, info fs.FileInfo) (int, error) {
	c := content{mode: info.Mode(), time: info.ModTime()}
	var err error
	switch c.mode.Type() {
	case fs.ModeDir:
		n := d.add(c)
		d.volatile[n] = folder{time: c.time}
		return n, nil
	case 0:
		c.data, err = os.ReadFile(name)
	case fs.ModeSymlink:
		var to string
		to, err = os.Readlink(name)
		c.data = []byte(to)
	default:
		err = fmt.Errorf("%q is neither file, directory nor symbolic link", name)
	}
	return d.add(c), err
}

// describe returns the type, size, hash and first path of the same file for each path, as a
// process sees them.
func (d *disk) describe(ignore func(string) bool) map[string]string {
	all := map[string]string{}
	first := map[int]string{}
	for _, p := range d.volatile.places() {
		if ignore != nil && ignore(p.path) {
			continue
		}
		if first[p.inode] == "" {
			first[p.inode] = p.path
		}
		c := d.inodes[p.inode].content(func(_ int, c change) kept { return whole(c) })
		all[p.path] = c.mode.Type().String()
		if !c.mode.IsDir() {
			all[p.path] = fmt.Sprintf("%v %d bytes %x as %s", c.mode.Type(), len(c.data), c.sum[:6], first[p.inode])
		}
	}
	return all
}
