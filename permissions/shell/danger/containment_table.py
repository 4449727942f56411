"""Programs that are never contained in a project, whatever their words say."""

from __future__ import annotations

from gatewright.permissions.shell.danger.danger_table import NETWORK

REMOTE_PROGRAMS: frozenset[str] = (NETWORK - {"openssl"}) | frozenset(
    {"kubectl", "helm", "terraform", "gcloud", "az", "heroku", "fly", "flyctl", "vercel", "netlify",
     "firebase", "ansible", "ansible-playbook", "psql", "mysql", "redis-cli", "mongosh", "glab",
     "doctl", "wrangler", "pulumi"}
)  # fmt: skip
SYSTEM_PROGRAMS: frozenset[str] = frozenset(
    {"apt", "apt-get", "dnf", "yum", "zypper", "apk", "pacman", "brew", "snap", "flatpak", "port",
     "kill", "pkill", "killall", "mount", "umount", "sysctl", "ifconfig", "ip", "iptables", "nft",
     "useradd", "usermod", "userdel", "groupadd", "passwd", "chsh", "service", "launchctl",
     "docker", "podman", "nerdctl", "open", "xdg-open", "osascript", "defaults", "modprobe",
     "insmod", "swapoff", "crontab", "at", "tmux", "screen", "systemctl", "loginctl"}
)  # fmt: skip
REMOTE_GIT: frozenset[str] = frozenset({"push", "send-email", "request-pull", "send-pack"})
