// Package device puts file systems on loop devices and mounts them.
package device
