//go:build linux

package device

import (
	"os"
	"os/exec"
	"strings"
)

// Missing returns the first requirement for mounting the file systems that this machine
// lacks; empty: none.
func Missing(kinds []Kind) string {
	if os.Geteuid() != 0 {
		return "file systems are mounted by root only"
	}
	for _, name := range []string{"/dev/fuse", "/dev/loop-control"} {
		f, err := os.OpenFile(name, os.O_RDWR, 0)
		if err != nil {
			return err.Error()
		}
		if err := f.Close(); err != nil {
			return err.Error()
		}
	}
	known, err := os.ReadFile("/proc/filesystems")
	if err != nil {
		return err.Error()
	}
	for _, k := range kinds {
		if !strings.Contains(string(known), "\t"+k.Type+"\n") {
			return "this kernel has no " + k.Type
		}
		for _, tool := range []string{k.Make[0]} {
			if _, err := exec.LookPath(tool); err != nil {
				return err.Error()
			}
		}
	}
	return ""
}
