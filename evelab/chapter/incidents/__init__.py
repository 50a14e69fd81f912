"""What has gone wrong in memory systems in the field, each as a run under a faulty rule and under the right one."""

from evelab.chapter.incidents import deployments, identifiers, keeping, people
from evelab.chapter.incidents.incident import Incident, Outcome

INCIDENTS: dict[str, Incident] = {
    incident.name: incident for module in (identifiers, people, deployments, keeping) for incident in module.INCIDENTS
}
"""name -> incident."""

__all__ = ["INCIDENTS", "Incident", "Outcome"]
