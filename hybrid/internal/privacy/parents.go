package privacy

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/amplifier-go/sessionstorage/internal/disk/vfs"
	"github.com/amplifier-go/sessionstorage/internal/format/limits"
	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
	"github.com/amplifier-go/sessionstorage/internal/store/sessioncost"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// parentMembers are the members of metadata by which tools name the parent of a session.
// A fork of some tools names it in an object, see forkMember.
var parentMembers = []string{"parent_id", "parent_session_id"}

const (
	forkMember = "fork"
	forkSource = "source_session_id"
)

// parentsIn returns the ids of the parents of a session with the metadata md. It is an
// error when the name of one is no text.
func parentsIn(md sessionstore.Metadata) (parents []string, err error) {
	add := func(name string, raw []byte) {
		switch {
		case raw == nil || pyjson.KindOf(raw) == pyjson.Null:
		case pyjson.KindOf(raw) != pyjson.String:
			err = fmt.Errorf("its %s is no text", name)
		default:
			if id := pyjson.Text(raw); id != "" && !slices.Contains(parents, id) {
				parents = append(parents, id)
			}
		}
	}
	for _, name := range parentMembers {
		raw, _ := md.Lookup(name)
		add(name, raw)
	}
	if fork, ok := md.Lookup(forkMember); ok && pyjson.KindOf(fork) == pyjson.Object {
		raw, _ := pyjson.Lookup(fork, forkSource)
		add(forkSource, raw)
	}
	return parents, err
}

// parentsOf returns the ids of the parents of the session in dir: the known ones, those
// in its metadata md, and those in the files beside its log of events, which go to no
// other device. It is an error when some of that cannot be read.
func parentsOf(dir string, md sessionstore.Metadata, known []string) (parents []string, err error) {
	named, err := parentsIn(md)
	parents = union(known, named)
	if err != nil {
		return parents, err
	}
	for _, path := range sessioncost.DescriptionsHere(dir) {
		md, err := describedIn(path)
		var named []string
		if err == nil {
			named, err = parentsIn(md)
		}
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return parents, fmt.Errorf("its parent cannot be read: %q: %w", path, err)
		}
		parents = union(parents, named)
	}
	return parents, nil
}

// describedIn reads the description of a session from a file beside its log of events.
func describedIn(path string) (md sessionstore.Metadata, err error) {
	root, err := os.OpenRoot(filepath.Dir(path))
	if err != nil {
		return md, err
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	f, _, err := vfs.Open(root, filepath.Base(path), os.O_RDONLY)
	if err != nil {
		return md, err
	}
	content, err := limits.ReadAll(f)
	if err = errors.Join(err, f.Close()); err != nil {
		return md, err
	}
	return sessionstore.ParseMetadata(content)
}

// union returns the elements of two lists, each once.
func union(a, b []string) []string {
	all := slices.Clip(a)
	for _, s := range b {
		if !slices.Contains(all, s) {
			all = append(all, s)
		}
	}
	return all
}

// WithoutParents returns metadata that name no parent. It adds no member.
func WithoutParents(content []byte) []byte {
	null := []byte("null")
	for _, name := range parentMembers {
		if _, ok := pyjson.Lookup(content, name); ok {
			content = pyjson.Splice(content, name, null)
		}
	}
	fork, _ := pyjson.Lookup(content, forkMember)
	if fork == nil || pyjson.KindOf(fork) != pyjson.Object {
		return content
	}
	if _, ok := pyjson.Lookup(fork, forkSource); ok {
		content = pyjson.Splice(content, forkMember, pyjson.Splice(fork, forkSource, null))
	}
	return content
}
