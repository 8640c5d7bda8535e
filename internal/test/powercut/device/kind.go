package device

import "slices"

// A Kind is a file system and how it is made and mounted.
type Kind struct {
	Name    string // such as "ext4-writeback"
	Type    string // that the kernel knows
	Size    int64
	Make    []string // the command that makes it, without the device
	Options string   // of the mount
	Sector  int64    // bytes that it needs the disk to write whole; 0: 512
}

// Kinds are the known file systems. The journal of ext4, and btrfs, write names each
// second, not each 5 and 30, so that a short run sees many. Btrfs cannot be mounted when
// its superblock of 4096 bytes is torn.
var Kinds = []Kind{
	ext4("ext4", "commit=1"),
	{"xfs", "xfs", 512 << 20, []string{"mkfs.xfs", "-q", "-f"}, "", 0},
	{"btrfs", "btrfs", 512 << 20, []string{"mkfs.btrfs", "-q", "-f"}, "commit=1", 4096},
	ext4("ext4-writeback", "commit=1,data=writeback"),
	ext4("ext4-nodelalloc", "commit=1,nodelalloc"),
}

func ext4(name, options string) Kind {
	return Kind{name, "ext4", 256 << 20, []string{"mkfs.ext4", "-q", "-F", "-J", "size=16"}, options, 0}
}

// Find returns the kind of that name.
func Find(name string) (Kind, bool) {
	i := slices.IndexFunc(Kinds, func(k Kind) bool { return k.Name == name })
	if i < 0 {
		return Kind{}, false
	}
	return Kinds[i], true
}
